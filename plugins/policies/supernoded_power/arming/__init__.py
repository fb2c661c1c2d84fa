"""Arming of PDUs by lease, and the alarm about it."""

from supernoded_power.arming.loop import Arming, ArmingLoop
from supernoded_power.arming.rule import ArmingRule

__all__ = ["Arming", "ArmingLoop", "ArmingRule"]
