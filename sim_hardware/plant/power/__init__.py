"""Mains, generator, UPSes, breakers, PDUs, cords and the nodes' power shelves."""
