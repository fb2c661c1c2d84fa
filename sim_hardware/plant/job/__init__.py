"""The training job: ranks, steps, a collective, checkpoints."""

from sim_hardware.plant.job.ordering import apply
from sim_hardware.plant.job.ranks import list_loads, list_traffic
from sim_hardware.plant.job.sensing import sense, sensors
from sim_hardware.plant.job.shape import Inputs, State
from sim_hardware.plant.job.starting import start
from sim_hardware.plant.job.updating import update

__all__ = ["Inputs", "State", "apply", "list_loads", "list_traffic", "sense", "sensors", "start", "update"]
