"""How long the batteries last, against what it takes to stop in order."""

from supernoded_power.reserve.batteries import WEAK, Batteries, Reserve
from supernoded_power.reserve.rule import OUTLET, ReserveMemory, ReserveRule
from supernoded_power.reserve.spending import WATCHES, Spent

__all__ = ["OUTLET", "WATCHES", "WEAK", "Batteries", "Reserve", "ReserveMemory", "ReserveRule", "Spent"]
