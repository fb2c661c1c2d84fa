"""Rings: is the cabling one closed cycle in the declared order, and is it fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from supernoded.plugin import Diagnosis, Node, Remedy, Rule, hookimpl
from supernoded_ring.command import ring
from supernoded_ring.conflict import ConflictRule
from supernoded_ring.diagnosis import RingDiagnosis
from supernoded_ring.lookout import Lookout
from supernoded_ring.plan import Plan, build_plans
from supernoded_ring.remedies import TellRemedy
from supernoded_ring.rules import BrokenRule, OrderRule
from supernoded_ring.settings import RingSettings
from supernoded_ring.timing import JitterRule, ModeRule, SlowRule

OF_LINKS = (BrokenRule, OrderRule, ConflictRule)
OF_TIMES = (ModeRule, SlowRule, JitterRule)


@hookimpl
def supernoded_settings() -> type[RingSettings]:
    """`[plugins.ring]`."""
    return RingSettings


@hookimpl
def supernoded_rules(settings: RingSettings, node: Node) -> Sequence[Rule[Any]]:
    """What is judged of each ring, in its own role."""
    rules: list[Rule[Any]] = []
    for plan, lookout in _look_out(settings, node):
        rules += [BrokenRule(lookout), OrderRule(lookout), ConflictRule(lookout, settings)]
        rules += [rule(plan, node, settings) for rule in OF_TIMES]
    return rules


@hookimpl
def supernoded_diagnoses(settings: RingSettings, node: Node) -> Sequence[Diagnosis]:
    """What explains each ring."""
    return [RingDiagnosis(lookout, node) for _, lookout in _look_out(settings, node)]


def _look_out(settings: RingSettings, node: Node) -> Iterator[tuple[Plan, Lookout]]:
    plans = build_plans(node.topology)
    foreign = frozenset(port for plan in plans for hop in plan.hops for port in (hop.a, hop.b))
    yield from ((plan, Lookout(plan, node, settings, foreign)) for plan in plans)


@hookimpl
def supernoded_remedies(settings: RingSettings, node: Node) -> Sequence[Remedy]:
    """What people are told."""
    del settings, node
    return [TellRemedy(rule.kind) for rule in (*OF_LINKS, *OF_TIMES)]


@hookimpl
def supernoded_commands() -> Sequence[click.Command]:
    """`supernodectl ring verify`."""
    return (ring,)
