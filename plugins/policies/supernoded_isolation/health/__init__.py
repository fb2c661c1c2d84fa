"""What is there: what the health codes of cards ask for, and which cards are gone."""

from supernoded_isolation.health.codes import LEVELS, LOST, RANKS, Table, build_table
from supernoded_isolation.health.fault import FaultRule
from supernoded_isolation.health.lost import LostRule

__all__ = ["LEVELS", "LOST", "RANKS", "FaultRule", "LostRule", "Table", "build_table"]
