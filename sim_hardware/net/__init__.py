"""The network of virtual time: TCP, unix sockets and UDP in memory, with delays, cuts and losses by seed."""

from sim_hardware.net.network import Net
from sim_hardware.net.pipes import Mark
from sim_hardware.net.wires import Segment

__all__ = ["Mark", "Net", "Segment"]
