"""Cards and the nodes they are in: power, clock, memory, health, hanging, falling off the bus."""

from sim_hardware.plant.cards.ordering import apply
from sim_hardware.plant.cards.outputs import list_alive, list_memory, list_node_watts, list_speeds, list_up, list_watts
from sim_hardware.plant.cards.sensing import sense, sensors
from sim_hardware.plant.cards.shape import Inputs, State
from sim_hardware.plant.cards.starting import start
from sim_hardware.plant.cards.updating import update

__all__ = [
    "Inputs",
    "State",
    "apply",
    "list_alive",
    "list_memory",
    "list_node_watts",
    "list_speeds",
    "list_up",
    "list_watts",
    "sense",
    "sensors",
    "start",
    "update",
]
