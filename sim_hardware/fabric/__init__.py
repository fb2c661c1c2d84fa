"""A message broker in memory, for the daemon's message port: what MQTT 5 promises, over the simulated network."""

from sim_hardware.fabric.broker import Broker

__all__ = ["Broker"]
