"""Modbus devices: CDU, PDU and UPS by register maps, over TCP and on serial lines."""

from sim_hardware.devices.modbus.maps import MapError, load_map
from sim_hardware.devices.modbus.serial import SerialDevice
from sim_hardware.devices.modbus.site import Site, build_site
from sim_hardware.devices.modbus.tcp import TcpDevice
from sim_hardware.devices.modbus.unit import Unit

__all__ = ["MapError", "SerialDevice", "Site", "TcpDevice", "Unit", "build_site", "load_map"]
