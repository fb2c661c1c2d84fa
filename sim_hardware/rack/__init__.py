"""Racks as data: what stands where, what hangs on what, and how the simulated things are built."""

from sim_hardware.rack.generating import generate_rack
from sim_hardware.rack.reading import SHIPPED, RackError, load_rack, write_rack, write_topology
from sim_hardware.rack.shape import Rack

__all__ = ["SHIPPED", "Rack", "RackError", "generate_rack", "load_rack", "write_rack", "write_topology"]
