"""The physics of a site, pure: states are frozen, functions take a state and return the next one. No clock, no I/O, no daemon."""
