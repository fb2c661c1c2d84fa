"""Rings: is the cabling one closed cycle in the declared order, and is it fast."""
