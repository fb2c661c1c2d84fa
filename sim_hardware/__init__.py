"""The simulated hardware bus: virtual time, a network in memory, and the devices behind it."""
