"""Controllers that speak Redfish (DMTF DSP0266, schemas of DSP0268): of rack PDUs, of CDUs, and the BMCs of nodes."""

from sim_hardware.devices.redfish.bmc import make_bmc, switch_monitor
from sim_hardware.devices.redfish.cdu import make_cdu
from sim_hardware.devices.redfish.pdu import make_pdu
from sim_hardware.devices.redfish.server import PASSWORD, USER, RedfishDevice

__all__ = ["PASSWORD", "USER", "RedfishDevice", "make_bmc", "make_cdu", "make_pdu", "switch_monitor"]
