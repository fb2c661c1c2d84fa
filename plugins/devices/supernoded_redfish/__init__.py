"""Devices that speak Redfish. Begun: the link monitor of a node's BMC."""
