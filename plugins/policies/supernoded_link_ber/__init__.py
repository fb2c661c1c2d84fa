"""Links: bit errors against bits seen, links that went down, counters that can no longer count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supernoded.plugin import Node, Remedy, Rule, hookimpl
from supernoded_link_ber.ber import BerRule
from supernoded_link_ber.down import DownRule
from supernoded_link_ber.remedies import TouchRemedy
from supernoded_link_ber.saturated import SaturatedRule
from supernoded_link_ber.settings import LinkBerSettings


@hookimpl
def supernoded_settings() -> type[LinkBerSettings]:
    """`[plugins.link_ber]`."""
    return LinkBerSettings


@hookimpl
def supernoded_rules(settings: LinkBerSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of a link."""
    return (BerRule(node.limits.link.ber_alarm, settings), DownRule(), SaturatedRule())


@hookimpl
def supernoded_remedies(settings: LinkBerSettings, node: Node) -> Sequence[Remedy]:
    """What people are told to touch."""
    del settings
    return (TouchRemedy("link.ber", node.limits), TouchRemedy("link.down", node.limits))
