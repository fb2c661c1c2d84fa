"""Links: optics, fibre, bit errors, counters, cabling, rings and the switches between nodes."""

from sim_hardware.plant.links.applying import apply
from sim_hardware.plant.links.hops import ring_factor
from sim_hardware.plant.links.state import Inputs, State
from sim_hardware.plant.links.truth import sense, sensors
from sim_hardware.plant.links.updating import start, update

__all__ = ["Inputs", "State", "apply", "ring_factor", "sense", "sensors", "start", "update"]
