"""Five whole daemons: who is late, who is gone, and what is done about it."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import pytest

from tests.sim.cluster.five import NODES, Five, play

OFF = 20.0


def test_a_node_that_is_off_is_late_then_gone_then_held_and_given_back_after_its_probation(tmp_path: Path) -> None:
    heard = play(tmp_path, {OFF: lambda five: five.turn_off("n3"), 50.0: lambda five: five.turn_on("n3")}, 95.0)
    assert heard.failures == []
    ((late, who),) = heard.raised("node.late")
    ((gone, whose),) = heard.raised("node.gone")
    assert (who, whose) == ("n3", "n3")
    assert OFF < late <= OFF + 3.3 < gone <= OFF + 10.0
    assert heard.raised("daemon.gone") == []
    ((held, *what),) = heard.acted("card.hold")
    assert (what, held > gone + 4.0) == (["n3", "done"], True)
    ((given_back, *what),) = heard.acted("card.unhold")
    assert (what, given_back > 50.0 + 30.0) == (["n3", "done"], True)


def test_a_daemon_that_is_killed_is_not_its_node(tmp_path: Path) -> None:
    heard = play(tmp_path, {OFF: lambda five: five.kill("n3")}, 40.0)
    ((at, who),) = heard.raised("daemon.gone")
    assert (who, OFF < at <= OFF + 10.0) == ("n3", True)
    assert (heard.raised("node.gone"), heard.acted("card.hold")) == ([], [])
    assert heard.told is not None
    assert [(node.name, node.state) for node in heard.told.nodes if node.state != "up"] == [("n3", "daemon gone")]


def test_without_the_broker_nobody_is_judged(tmp_path: Path) -> None:
    script = {OFF: lambda five: five.site.broker.stop(), 50.0: lambda five: five.site.broker.start()}
    heard = play(tmp_path, script, 70.0)
    assert [event for _, event in heard.events if event.kind.startswith(("node.", "daemon."))] == []


def test_a_restart_of_everybody_is_no_trouble(tmp_path: Path) -> None:
    def restart(five: Five) -> None:
        for name in NODES:
            five.kill(name)
        for name in NODES:
            five.loop.after(1.0 + 2.0 * NODES.index(name), partial(five.start, name))

    heard = play(tmp_path, {OFF: restart}, 60.0)
    assert [event.text for _, event in heard.events if event.raised] == []


def test_clocks_that_differ_are_told_and_nobody_is_late_for_it(tmp_path: Path) -> None:
    heard = play(tmp_path, {}, 30.0, skew=3.0)
    assert sorted(who for _, who in heard.raised("node.clock")) == ["n0", "n1", "n3", "n4"]  # n2 is the median
    assert {event.kind for _, event in heard.events if event.raised} == {"node.clock"}


LEASED = """\
[journal]
database = "postgresql://site@database/site"
[seats]
candidates = {fleet = ["n0", "n1", "n2"], spares = ["n3", "n4"]}
[breakers]
nodes_out = 1
"""


def test_who_takes_the_role_over_judges_the_last_holder_and_counts_on_from_what_it_gave(tmp_path: Path) -> None:
    script = {20.0: lambda five: five.turn_off("n4"), 40.0: lambda five: five.turn_off("n0")}
    heard = play(tmp_path, script, 105.0, more=LEASED)
    (first, again), (second, other) = heard.raised("node.gone")
    assert (again, other, first < 30.0, 55.0 < second < 75.0) == ("n4", "n0", True, True)
    assert [event.subject for _, event in heard.events if event.kind == "node.gone" and not event.raised] == []
    assert [(who, result) for _, who, result in heard.acted("card.hold")][:2] == [("n4", "done"), ("n0", "refused")]
    refusal = next(told.outcome.text for _, told in heard.outcomes if (told.kind, told.target) == ("card.hold", "n0"))
    assert "there are 1 (n4), the limit is 1 (breakers.nodes_out)" in refusal
    assert [who for _, who in heard.raised("breaker.tripped")] == ["fleet"]


def test_three_at_once_are_one_incident_and_none_is_held(tmp_path: Path) -> None:
    def turn_off(five: Five) -> None:
        five.turn_off("n3")
        five.turn_off("n4")

    loop = '[[loops]]\nname = "cdu0"\n'
    heard = play(tmp_path, {OFF: turn_off}, 40.0, more=loop, loops={"n3": "cdu0", "n4": "cdu0"})
    assert sorted(who for _, who in heard.raised("node.gone")) == ["n3", "n4"]
    assert heard.acted("card.hold") == []
    notices = [told.reason for _, told in heard.outcomes if told.kind == "notify" and told.target == "cdu/0"]
    assert any("2 subjects that share cdu/0: n3, n4" in reason for reason in notices)


SIDES = [frozenset(side) for side in (("n3",), ("n0",), ("n3", "n4"), ("n0", "n1"))]


@pytest.mark.parametrize("side", SIDES, ids=lambda side: "-".join(sorted(side)))
@pytest.mark.parametrize("broker_with_majority", [True, False])
def test_only_a_majority_that_has_the_holder_and_the_broker_takes_anything_out(
    tmp_path: Path, side: frozenset[str], *, broker_with_majority: bool
) -> None:
    """The others answer no probe from the far side, so they look gone from there. `test_shapes.py` has every shape."""
    far = side if broker_with_majority else frozenset(NODES) - side

    def cut(five: Five) -> None:
        for here, there in itertools.product(sorted(far), (*sorted(frozenset(NODES) - far), "broker")):
            five.site.net.partition(here, there)

    def heal(five: Five) -> None:
        for name in sorted(far):
            for there in (*NODES, "broker"):
                five.site.net.heal(name, there)

    heard = play(tmp_path, {12.0: cut, 28.0: heal}, 36.0)
    may, holder_hears = broker_with_majority and "n0" not in side, "n0" not in far
    assert {who for _, who, result in heard.acted("card.hold") if result == "done"} == (set(side) if may else set())
    assert {who for _, who in heard.raised("node.gone")} == (set(side) if may else set())
    assert {who for _, who in heard.raised("node.late")} == (set(far) if holder_hears else set())
    assert bool(heard.raised("fleet.split")) is (holder_hears and not broker_with_majority)
