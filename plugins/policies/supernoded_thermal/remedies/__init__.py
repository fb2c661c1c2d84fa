"""What is done about heat and coolant."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Node, Remedy
from supernoded_thermal.remedies.cooling import LOOP_KINDS, CoolingRemedy
from supernoded_thermal.remedies.leaking import LeakRemedy
from supernoded_thermal.remedies.telling import FIRST, TellRemedy
from supernoded_thermal.settings import ThermalSettings

__all__ = ["make_remedies"]


def make_remedies(settings: ThermalSettings, node: Node) -> Sequence[Remedy]:
    """One for each kind."""
    return (
        *(CoolingRemedy(kind, node, settings) for kind in (*LOOP_KINDS, "heat")),
        LeakRemedy(node, settings),
        *(TellRemedy(kind, node, settings) for kind in FIRST),
    )
