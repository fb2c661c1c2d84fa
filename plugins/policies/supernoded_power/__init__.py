"""Power: from a sag of the mains to a safe step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supernoded.plugin import Diagnosis, Loop, Node, Remedy, Rule, hookimpl
from supernoded_power.alarm import AlarmRule
from supernoded_power.arming import Arming, ArmingLoop, ArmingRule
from supernoded_power.battery import BatteryRule, OverloadRule, RideRule
from supernoded_power.checkpoint import CheckpointRule
from supernoded_power.diagnosis import PowerDiagnosis
from supernoded_power.doubt import ConflictRule, SilentRule
from supernoded_power.mains import Feeds
from supernoded_power.outage import FeedLostRule, OutageRule
from supernoded_power.pdus import CordsRule, ShedLateRule
from supernoded_power.redundancy import RedundancyRule
from supernoded_power.remedies import ADVICE, OutageRemedy, ReserveRemedy, TellRemedy
from supernoded_power.reserve import ReserveRule, ShortRule
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_sheddable
from supernoded_power.supply_lost import SupplyLostRule
from supernoded_power.upkeep import Spared


@hookimpl
def supernoded_settings() -> type[PowerSettings]:
    """`[plugins.power]`."""
    return PowerSettings


@hookimpl
def supernoded_rules(settings: PowerSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of mains, batteries, PDUs, checkpoints and power supplies."""
    site, feeds = node.topology, Feeds(node.topology, node.limits, settings)
    rules: tuple[Rule[Any], ...] = (
        OutageRule(feeds, site, settings),
        FeedLostRule(feeds, settings),
        ConflictRule(feeds, settings),
        SilentRule(feeds, settings),
        ReserveRule(feeds, node, settings),
        ShortRule(feeds, node, settings),
        RedundancyRule(feeds, site, settings),
        ArmingRule(site, settings),
        ShedLateRule(site, node.limits, settings),
        CordsRule(feeds, site, settings),
        RideRule(feeds, settings),
        BatteryRule(feeds, settings),
        OverloadRule(feeds, settings),
        AlarmRule(feeds, settings),
        CheckpointRule(settings),
        SupplyLostRule(),
    )
    return [Spared(rule, node.is_under_maintenance) for rule in rules]


@hookimpl
def supernoded_loops(settings: PowerSettings, node: Node) -> Sequence[Loop[Any]]:
    """The arming of each PDU with outlets that may be shed."""
    site = node.topology
    return [ArmingLoop(Arming(site, pdu.name, settings)) for pdu in site.pdus if list_sheddable(site, pdu.name)]


@hookimpl
def supernoded_diagnoses(settings: PowerSettings, node: Node) -> Sequence[Diagnosis]:
    """What explains it."""
    return (PowerDiagnosis(Feeds(node.topology, node.limits, settings), node.topology, settings),)


@hookimpl
def supernoded_remedies(settings: PowerSettings, node: Node) -> Sequence[Remedy]:
    """What is done about it."""
    feeds = Feeds(node.topology, node.limits, settings)
    return (
        OutageRemedy(feeds, node, settings),
        ReserveRemedy(feeds, node, settings),
        *(TellRemedy(kind, settings) for kind in ADVICE),
    )
