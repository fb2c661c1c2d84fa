"""Cards: what their health codes mean, which are lost, which are to blame for their job's trouble, and how one is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supernoded.plugin import Diagnosis, Node, Remedy, Rule, hookimpl
from supernoded_isolation.diagnosis import CardDiagnosis
from supernoded_isolation.health import FaultRule, LostRule, build_table
from supernoded_isolation.remedies import SoftwareRemedy, TellRemedy
from supernoded_isolation.rules import (
    EccRule,
    FaultyRule,
    IdleRule,
    LostJobRule,
    MapRule,
    MemoryRule,
    ProcessRule,
    SilentRule,
    SlowRule,
    SoftwareRule,
)
from supernoded_isolation.rules.inquiry import Inquiry
from supernoded_isolation.saga import ProcessRemedy, RelocateRemedy, ReplaceRemedy
from supernoded_isolation.settings import IsolationSettings


@hookimpl
def supernoded_settings() -> type[IsolationSettings]:
    """`[plugins.isolation]`."""
    return IsolationSettings


@hookimpl
def supernoded_rules(settings: IsolationSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of a card. Raises PluginError for a table of codes that cannot be read."""
    table, site = build_table(settings.fault_codes, settings.chips), node.topology
    declared = next((one.list_cards() for one in site.nodes if one.name == node.name), ())
    inquiry = Inquiry(site, table, settings, node.is_under_maintenance)
    return (
        FaultRule(table, node.is_under_maintenance),
        LostRule(node.name, declared, table, settings, node.is_under_maintenance),
        MemoryRule(settings, node.is_under_maintenance),
        EccRule(settings, node.is_under_maintenance),
        SilentRule(inquiry, site, settings),
        FaultyRule(inquiry, site, settings),
        ProcessRule(inquiry, site, settings),
        IdleRule(inquiry, site, settings),
        SoftwareRule(inquiry, site, settings),
        SlowRule(settings),
        MapRule(site),
        LostJobRule(),
    )


@hookimpl
def supernoded_diagnoses(settings: IsolationSettings, node: Node) -> Sequence[Diagnosis]:
    """Why a card, rank or job is in trouble. Raises PluginError for a table of codes that cannot be read."""
    return (CardDiagnosis(node.topology, build_table(settings.fault_codes, settings.chips), settings),)


@hookimpl
def supernoded_remedies(settings: IsolationSettings, node: Node) -> Sequence[Remedy]:
    """What is done, and what people are told. Raises PluginError for a table of codes that cannot be read."""
    del node
    table = build_table(settings.fault_codes, settings.chips)
    told = (TellRemedy(kind) for kind in ("card.fault", "card.lost", "card.memory", "card.ecc", "card.slow", "job.idle", "rank.map"))
    return (
        *told,
        SoftwareRemedy("card.software", settings.software_s),
        ReplaceRemedy("card.silent", table, settings),
        ReplaceRemedy("card.faulty", table, settings),
        ProcessRemedy(table, settings),
        RelocateRemedy(table, settings),
    )
