"""Mains, generator, UPSes, breakers, PDUs, cords and the nodes' power shelves."""

from sim_hardware.plant.power.flows import EnergyBook
from sim_hardware.plant.power.ordering import apply
from sim_hardware.plant.power.sensing import live, sense, sensors
from sim_hardware.plant.power.state import State
from sim_hardware.plant.power.stepping import Inputs, energy, start, update

__all__ = ["EnergyBook", "Inputs", "State", "apply", "energy", "live", "sense", "sensors", "start", "update"]
