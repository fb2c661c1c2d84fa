"""How coolant is held: supply temperature by the valve or by a setpoint, pressure by the pumps. Pure."""

from supernoded_thermal.control.making import make_loops
from supernoded_thermal.control.settings import ControlSettings

__all__ = ["ControlSettings", "make_loops"]
