"""Serial lines: paced at their real baud, half duplex, and faulty on demand."""

from sim_hardware.bus.faults import LineFaults
from sim_hardware.bus.gateway import serve_gateway
from sim_hardware.bus.line import Line, Reply
from sim_hardware.bus.pace import Pace
from sim_hardware.bus.port import LinePort
from sim_hardware.bus.pty import serve_pty
from sim_hardware.bus.record import Passed, Record

__all__ = ["Line", "LineFaults", "LinePort", "Pace", "Passed", "Record", "Reply", "serve_gateway", "serve_pty"]
