"""Links: bit errors against bits seen, whether they are up, steady, lit and as fast as declared, why not, and what to touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supernoded.plugin import Diagnosis, Node, Remedy, Rule, hookimpl
from supernoded_link_ber import ber, health
from supernoded_link_ber.remedies import TellRemedy, TouchRemedy
from supernoded_link_ber.settings import LinkBerSettings

TOUCHED = ("link.ber", "link.trend", "link.fec", "link.down", "link.flapping", "link.optic")
TOLD = (
    "link.overruled",
    "link.saturated",
    "link.lanes",
    "link.conflict",
    "link.speed",
    "link.fec_off",
    "link.probe",
    "nic.degraded",
    "bmc.monitor_off",
)


@hookimpl
def supernoded_settings() -> type[LinkBerSettings]:
    """`[plugins.link_ber]`."""
    return LinkBerSettings


@hookimpl
def supernoded_rules(settings: LinkBerSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of a link."""
    ports = health.Ports(node, settings)
    return (*ber.make_rules(settings, node, ports.gallery), *health.make_rules(settings, node, ports))


@hookimpl
def supernoded_diagnoses(settings: LinkBerSettings, node: Node) -> Sequence[Diagnosis]:
    """What explains the trouble of a link."""
    return health.make_diagnoses(settings, node)


@hookimpl
def supernoded_remedies(settings: LinkBerSettings, node: Node) -> Sequence[Remedy]:
    """What people are told to touch, and what follows."""
    return (*(TouchRemedy(kind, node.limits, settings) for kind in TOUCHED), *(TellRemedy(kind) for kind in TOLD))
