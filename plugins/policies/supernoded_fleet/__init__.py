"""Who beats and who does not: nodes late or gone, two of one name, clocks, a split site. Runs where the role `fleet` is held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supernoded.plugin import Node, Remedy, Rule, hookimpl
from supernoded_fleet.lives import DaemonRule, GoneRule, LateRule, Roll
from supernoded_fleet.remedies import GoneRemedy, TellRemedy
from supernoded_fleet.settings import FleetSettings
from supernoded_fleet.standing import BreakerRule, ClockRule, RivalRule, SplitRule


@hookimpl
def supernoded_settings() -> type[FleetSettings]:
    """`[plugins.fleet]`."""
    return FleetSettings


@hookimpl
def supernoded_rules(settings: FleetSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of nodes, by the holder of the role `fleet`."""
    roll = Roll(node, settings)
    return (
        LateRule(roll),
        GoneRule(roll),
        DaemonRule(roll),
        RivalRule(),
        ClockRule(settings),
        SplitRule(node, settings),
        BreakerRule(),
    )


@hookimpl
def supernoded_remedies(settings: FleetSettings, node: Node) -> Sequence[Remedy]:
    """What is done about it."""
    del node
    told = [TellRemedy(kind) for kind in ("daemon.gone", "node.rival", "node.clock", "fleet.split", "breaker.tripped")]
    return (TellRemedy("node.late", settings.notify_after_s, ("node.gone", "daemon.gone")), GoneRemedy(settings), *told)
