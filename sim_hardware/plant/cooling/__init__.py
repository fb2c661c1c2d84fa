"""Coolant distribution units, branches, dies and fans."""
