"""Ports, optics, fibres, counters, cabling and switches."""
