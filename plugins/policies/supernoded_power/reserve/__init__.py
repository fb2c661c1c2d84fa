"""How long the batteries last, against what it takes to stop in order."""

from supernoded_power.reserve.batteries import WEAK, Batteries, Reserve
from supernoded_power.reserve.recalling import WATCHES as RECALLED
from supernoded_power.reserve.rule import OUTLET, ReserveMemory, ReserveRule
from supernoded_power.reserve.short import ShortRule
from supernoded_power.reserve.spending import WATCHES, Spent

__all__ = ["OUTLET", "RECALLED", "WATCHES", "WEAK", "Batteries", "Reserve", "ReserveMemory", "ReserveRule", "ShortRule", "Spent"]
