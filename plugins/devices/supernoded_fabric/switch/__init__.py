"""Switches between nodes, asked over their own command line: thresholds of PFC and ECN, drops, marks and pauses (N4 to N6)."""

from supernoded_fabric.switch.sensors import make_sensors
from supernoded_fabric.switch.settings import SwitchSettings

__all__ = ["SwitchSettings", "make_sensors"]
