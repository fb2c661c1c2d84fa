"""A UPS as a NUT server shows it: the protocol of `upsd` on TCP, as of NUT 2.8 (network protocol 1.3)."""

from sim_hardware.devices.nut.server import NutServer
from sim_hardware.devices.nut.session import Session
from sim_hardware.devices.nut.unit import Account, Unit
from sim_hardware.devices.nut.variables import Dialect

__all__ = ["Account", "Dialect", "NutServer", "Session", "Unit"]
