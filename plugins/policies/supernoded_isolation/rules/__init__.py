"""What is judged of cards where the role `spares` is held, and of their memory on each node."""

from supernoded_isolation.rules.ecc import EccRule
from supernoded_isolation.rules.lost import LostJobRule
from supernoded_isolation.rules.mapping import MapRule
from supernoded_isolation.rules.memory import MemoryRule
from supernoded_isolation.rules.slow import SlowRule
from supernoded_isolation.rules.verdicts import FaultyRule, IdleRule, ProcessRule, SilentRule, SoftwareRule

__all__ = [
    "EccRule",
    "FaultyRule",
    "IdleRule",
    "LostJobRule",
    "MapRule",
    "MemoryRule",
    "ProcessRule",
    "SilentRule",
    "SlowRule",
    "SoftwareRule",
]
