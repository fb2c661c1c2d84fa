"""The control socket of a served rack: JSON lines, one request and one answer each."""

from sim_hardware.drives.control.desk import Desk
from sim_hardware.drives.control.listening import serve_control

__all__ = ["Desk", "serve_control"]
