"""Whether a link is well, apart from its bit errors: up, steady, whole, lit, as fast as declared; and why it is not."""

from __future__ import annotations

from typing import Any

from supernoded.plugin import Diagnosis, Node, Rule
from supernoded_link_ber.health.conflict import ConflictRule
from supernoded_link_ber.health.devices import DegradedRule, MonitorRule
from supernoded_link_ber.health.diagnosis import LinkDiagnosis
from supernoded_link_ber.health.down import DownRule
from supernoded_link_ber.health.fec import FecRule
from supernoded_link_ber.health.flapping import FlappingRule
from supernoded_link_ber.health.lanes import LanesRule
from supernoded_link_ber.health.optic import OpticRule
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.probe import ProbeRule
from supernoded_link_ber.health.speed import SpeedRule
from supernoded_link_ber.settings import LinkBerSettings

__all__ = ["Ports", "make_diagnoses", "make_rules"]


def make_rules(settings: LinkBerSettings, node: Node, ports: Ports) -> list[Rule[Any]]:
    """What is judged of links, NICs and their monitors."""
    return [
        DownRule(ports),
        FlappingRule(ports, settings),
        LanesRule(ports, settings),
        OpticRule(ports),
        ConflictRule(ports.gallery),
        SpeedRule(ports),
        FecRule(ports),
        ProbeRule(ports.gallery),
        DegradedRule(node.is_under_maintenance),
        MonitorRule(node.is_under_maintenance),
    ]


def make_diagnoses(settings: LinkBerSettings, node: Node) -> list[Diagnosis]:
    """What explains the trouble of a port or a cable."""
    return [LinkDiagnosis(Ports(node, settings), node.limits.link.unseated_percent, node.limits.link.bend_radius_mm)]
