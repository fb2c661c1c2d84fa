"""A UPS (RFC 1628) and a rack PDU (both of APC's trees) as SNMP agents show them, for SNMP v1 and v2c; v3 is not spoken."""

from sim_hardware.devices.snmp.agent import Agent, Communities
from sim_hardware.devices.snmp.mib import Cell, Mib, SetError
from sim_hardware.devices.snmp.server import SnmpServer, make_pdu_agent, make_ups_agent
from sim_hardware.devices.snmp.words import Asn, Oid, Unknown, parse_oid

__all__ = [
    "Agent",
    "Asn",
    "Cell",
    "Communities",
    "Mib",
    "Oid",
    "SetError",
    "SnmpServer",
    "Unknown",
    "make_pdu_agent",
    "make_ups_agent",
    "parse_oid",
]
