"""What a plugin may hand in."""

from supernoded.parts.protocols import Actuator, Check, Diagnosis, Fault, Handle, Loop, Remedy, Rule, Sensor
from supernoded.parts.words import NOTHING_SEEN, Case, Fidelity, Finding, Format, Source, Undo, World

__all__ = [
    "NOTHING_SEEN",
    "Actuator",
    "Case",
    "Check",
    "Diagnosis",
    "Fault",
    "Fidelity",
    "Finding",
    "Format",
    "Handle",
    "Loop",
    "Remedy",
    "Rule",
    "Sensor",
    "Source",
    "Undo",
    "World",
]
