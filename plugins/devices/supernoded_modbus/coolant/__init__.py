"""CDUs that are turned: whose one is, what it is told, and what it shows."""

from supernoded_modbus.coolant.cdu import Cdu, list_coolant_actuators
from supernoded_modbus.coolant.coolant import Coolant
from supernoded_modbus.coolant.record import CoolantRecord

__all__ = ["Cdu", "Coolant", "CoolantRecord", "list_coolant_actuators"]
