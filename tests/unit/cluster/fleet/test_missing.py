"""Which nodes are gone is told while this node has the role and more than half of the site is heard."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from supernoded.cluster.fleet.missing import GoneSensor
from supernoded.model import Level, State, Verdict
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock


def say(kind: str, node: str, level: Level) -> Verdict:
    return Verdict(kind=kind, subject=node, level=level, text="x", at=1.0)


SAID = (
    say("node.gone", "n1", Level.RAISED),
    say("node.gone", "n2", Level.UNSURE),
    say("node.gone", "n3", Level.CLEAR),
    say("daemon.gone", "n4", Level.RAISED),
    say("node.late", "n5", Level.RAISED),
)


def make_sensor(clock: ManualClock, said: Sequence[Verdict] | None, doubt: str = "") -> GoneSensor:
    return GoneSensor("n0", clock, lambda: said, lambda _: doubt)


@pytest.mark.parametrize(("said", "gone"), [(SAID, frozenset({"n1"})), ((), frozenset())])
async def test_only_what_is_raised_as_gone_is(supernoded_clock: ManualClock, said: Sequence[Verdict], gone: frozenset[str]) -> None:
    (reading,) = await make_sensor(supernoded_clock, said).read()
    assert (reading.subject, reading.quantity) == ("fleet", "fleet.gone")
    assert reading.value == gone
    assert find_fault(reading) is None


async def test_while_nobody_may_judge_it_is_not_known(supernoded_clock: ManualClock) -> None:
    (reading,) = await make_sensor(supernoded_clock, SAID, "n0 hears 2 of 5 nodes").read()
    assert (reading.state, reading.note) == (State.UNKNOWN, "n0 hears 2 of 5 nodes")


async def test_without_the_role_nothing_is_told(supernoded_clock: ManualClock) -> None:
    assert await make_sensor(supernoded_clock, None).read() == []
