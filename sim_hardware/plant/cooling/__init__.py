"""Coolant distribution units, branches, dies and fans.

A site's cooling as a function of time: CDUs with valve, exchanger, N+1 pumps and PLC; pipes in which coolant takes its time; cold plates
and dies; fans and what air alone cools. Plants are data, in `plants/`.
"""

from sim_hardware.plant.cooling.applying import apply
from sim_hardware.plant.cooling.bookkeeping import HeatBook, heat_book
from sim_hardware.plant.cooling.design import Design, list_designs, load_design
from sim_hardware.plant.cooling.sensing import sense, sensors
from sim_hardware.plant.cooling.state import Inputs, State
from sim_hardware.plant.cooling.updating import start, update

__all__ = [
    "Design",
    "HeatBook",
    "Inputs",
    "State",
    "apply",
    "heat_book",
    "list_designs",
    "load_design",
    "sense",
    "sensors",
    "start",
    "update",
]
