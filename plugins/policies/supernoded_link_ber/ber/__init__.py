"""Bit errors of links, judged by exposure: what is above the limit, what rises to it, and what can no longer be counted."""

from __future__ import annotations

from typing import Any

from supernoded.plugin import Node, Rule
from supernoded_link_ber.ber.correcting import FecRule
from supernoded_link_ber.ber.judging import Judge
from supernoded_link_ber.ber.rising import TrendRule
from supernoded_link_ber.ber.rules import BerRule, OverruledRule
from supernoded_link_ber.ber.saturated import SaturatedRule
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.settings import LinkBerSettings

__all__ = ["BerRule", "make_rules"]


def make_rules(settings: LinkBerSettings, node: Node, gallery: Gallery) -> list[Rule[Any]]:
    """What is judged of the bit errors of this node's links."""
    limit, speed = node.limits.link.ber_alarm, node.limits.link.roce_gbps
    judge = Judge(limit, speed, settings)
    return [
        BerRule(judge, gallery),
        OverruledRule(judge, gallery),
        TrendRule(limit, settings, gallery),
        FecRule(speed, settings, gallery),
        SaturatedRule(gallery),
    ]
