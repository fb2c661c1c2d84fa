"""The memory pool and its tiers: HBM, DDR5, persistent memory with wear by block, snapshots."""

from sim_hardware.plant.pool.ordering import apply
from sim_hardware.plant.pool.sensing import sense, sensors
from sim_hardware.plant.pool.shape import Inputs, State
from sim_hardware.plant.pool.starting import start
from sim_hardware.plant.pool.updating import update

__all__ = ["Inputs", "State", "apply", "sense", "sensors", "start", "update"]
