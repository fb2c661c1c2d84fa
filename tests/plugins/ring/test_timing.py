"""Slow hops, jitter, the mode of the ring, and the library's view beside ours."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

import supernoded_ring
from supernoded.model import Incident, Level, Outcome, Reading, Result, Severity, Step
from supernoded.parts import Case, World
from supernoded.testing import judge
from supernoded.topology import Topology
from supernoded_ring.settings import RingSettings
from supernoded_ring.timing import estimate_sigma
from tests.plugins.ring.test_rules import GOOD, RING, ask, find_rule, make_node, read, show
from tests.plugins.ring.wiring import card, cut, swap

PORT, CABLE = "n0/card3/port0", "cable/n0/card3/port0--n0/card4/port1"


@pytest.mark.parametrize("subject", [PORT, CABLE])
@pytest.mark.parametrize(
    ("latency", "level", "severity"),
    [
        (2.0, Level.CLEAR, Severity.WARNING),
        (2.1, Level.CLEAR, Severity.WARNING),
        (2.6, Level.RAISED, Severity.WARNING),
        (3.0, Level.RAISED, Severity.WARNING),
        (3.4, Level.RAISED, Severity.CRITICAL),
        (18.0, Level.RAISED, Severity.CRITICAL),
    ],
)
def test_a_slow_hop_warns_and_then_fails(tmp_path: Path, subject: str, latency: float, level: Level, severity: Severity) -> None:
    others = [read(card(number, 0), "hop.latency", 1.7) for number in (0, 1)]
    verdicts = judge(find_rule(make_node(tmp_path), "ring.slow"), [*others, read(subject, "hop.latency", latency)])
    (verdict,) = [verdict for verdict in verdicts if verdict.subject == PORT]
    assert (verdict.subject, verdict.level, verdict.severity) == (PORT, level, severity)
    assert verdict.text.startswith(f"the hop n0/card3/port0 -> n0/card4/port1 ({CABLE}) takes {latency:.2f} us")
    assert ("as over a star" in verdict.text) == (latency > 15)


def test_a_lap_may_take_its_hops_times_the_limit(tmp_path: Path) -> None:
    fast = [read(card(number, 0), "hop.latency", 1.8) for number in range(7)]
    one_slow = judge(find_rule(make_node(tmp_path), "ring.slow"), [*fast, read(card(7, 0), "hop.latency", 2.6)])
    assert [(verdict.subject, verdict.level) for verdict in one_slow[-2:]] == [(card(7, 0), Level.RAISED), (RING, Level.CLEAR)]
    assert one_slow[-1].text == "a lap of the 8 hops of ring/r0 takes 15.20 us, at most 16.8 us is good"
    slow = [read(card(number, 0), "hop.latency", 2.2) for number in range(8)]
    assert judge(find_rule(make_node(tmp_path), "ring.slow"), slow)[-1].level is Level.RAISED


def test_hops_between_nodes_are_measured_at_the_node_that_sends(tmp_path: Path) -> None:
    cluster = {"name": "c", "level": "cluster", "order": ["n0", "n1", "n2"]}
    site = msgspec.convert({"nodes": [{"name": name, "cards": 1} for name in ("n0", "n1", "n2")], "rings": [cluster]}, Topology)
    readings = [read(name, "hop.latency", latency) for name, latency in (("n0", 1.8), ("n1", 3.4), ("n2", 1.8))]
    verdicts = judge(find_rule(make_node(tmp_path, site), "ring.slow", "ring/c"), readings)
    assert [(one.subject, one.level) for one in verdicts] == [
        ("n0", Level.CLEAR),
        ("n1", Level.RAISED),
        ("n2", Level.CLEAR),
        ("ring/c", Level.RAISED),
    ]
    assert verdicts[1].text == "the hop n1 -> n2 of ring/c takes 3.40 us, above 3 us: check its cabling"


def test_a_latency_that_cannot_be_measured_is_not_good(tmp_path: Path) -> None:
    verdict = ask(make_node(tmp_path), "ring.slow", [read(PORT, "hop.latency", None, note="timeout")])
    assert (verdict.level, verdict.unseen) == (Level.UNSURE, ("hop.latency: timeout",))


def test_a_ring_measured_as_a_whole(tmp_path: Path) -> None:
    verdict = ask(make_node(tmp_path), "ring.slow", [read(RING, "hop.latency", 3.4)])
    assert (verdict.subject, verdict.level, verdict.severity) == (RING, Level.RAISED, Severity.CRITICAL)


@pytest.mark.parametrize(("sigma", "level"), [(0.3, Level.CLEAR), (0.6, Level.CLEAR), (0.61, Level.RAISED)])
def test_jitter_as_the_device_measures_it(tmp_path: Path, sigma: float, level: Level) -> None:
    assert ask(make_node(tmp_path), "ring.jitter", [read(PORT, "hop.jitter", sigma)]).level is level


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([1.7, 1.9] * 10, Level.CLEAR),
        ([1.0, 3.0] * 10, Level.RAISED),
        ([1.7] * 10 + [3.4] * 10, Level.CLEAR),  # one step is slow, not unsteady
        ([1.7 + 0.1 * step for step in range(20)], Level.CLEAR),  # a drift, too
    ],
)
def test_jitter_of_what_was_measured(tmp_path: Path, values: list[float], level: Level) -> None:
    readings = [read(PORT, "hop.latency", value, 5.0 * at) for at, value in enumerate(values)]
    assert ask(make_node(tmp_path), "ring.jitter", readings).level is level


def test_few_latencies_are_no_jitter(tmp_path: Path) -> None:
    assert judge(find_rule(make_node(tmp_path), "ring.jitter"), [read(PORT, "hop.latency", value, value) for value in (1.0, 9.0)]) == []


def test_sigma_is_that_of_independent_values() -> None:
    chance = random.Random(1)
    assert estimate_sigma([chance.gauss(5.0, 1.0) for _ in range(4000)], 15.0, 8) == pytest.approx(1.0, rel=0.05)
    assert estimate_sigma([1.7, 25.0, 1.7, 25.0, 1.7], 15.0, 3) is None


def test_a_ring_that_runs_as_a_star_has_no_slow_and_no_unsteady_hops(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    readings: list[Reading] = []
    for at in range(40):
        star = 10 <= at < 20
        readings += [read(card(number, 0), "hop.latency", 18.0 if star else 1.7, 5.0 * at) for number in range(8)]
        readings += [read(card(number, 0), "hop.jitter", 7.0, 5.0 * at) for number in range(8)]
        readings += [read(RING, "ring.mode", "star" if star else "sar_ring", 5.0 * at)] if at % 2 else []
    for kind in ("ring.slow", "ring.jitter"):
        levels = {verdict.level for verdict in judge(find_rule(node, kind), readings) if verdict.at > 50.0}
        assert Level.RAISED not in levels
    slow = judge(find_rule(node, "ring.slow"), [one for one in readings if one.at < 100.0])
    assert {verdict.subject: verdict.level for verdict in slow}[RING] is Level.UNSURE  # the lap, which was good, is not now
    told = [verdict for verdict in judge(find_rule(node, "ring.mode"), readings) if verdict.level is Level.RAISED]
    assert told[0].at == 50.0


@pytest.mark.parametrize(("mode", "level"), [("sar_ring", Level.CLEAR), ("star", Level.RAISED), ("allreduce", Level.RAISED)])
def test_any_other_mode_is_critical(tmp_path: Path, mode: str, level: Level) -> None:
    verdict = ask(
        make_node(tmp_path), "ring.mode", [read(RING, "ring.mode", mode), read(RING, "hop.latency", 18.0 if mode == "star" else 2.0)]
    )
    assert (verdict.level, verdict.severity) == (level, Severity.CRITICAL)
    slow = ", every hop takes 18.00 us or more" if mode == "star" else ""
    assert (verdict.level is Level.CLEAR) or verdict.text == f"ring/r0 has been degraded to {mode}{slow}"


def test_hops_as_slow_as_a_star_tell_it_alone(tmp_path: Path) -> None:
    star = [read(card(number, 0), "hop.latency", 18.0) for number in range(8)]
    assert ask(make_node(tmp_path), "ring.mode", star).level is Level.RAISED
    assert (
        judge(find_rule(make_node(tmp_path), "ring.mode"), [*star[1:], read(card(0, 0), "hop.latency", 1.8)]) == []
    )  # one fast hop: no star
    assert ask(make_node(tmp_path), "ring.mode", [read(RING, "ring.mode", None, note="time-out")]).level is Level.UNSURE


def test_the_library_may_be_behind_for_two_polls(tmp_path: Path) -> None:
    readings: list[Reading] = []
    for poll in range(4):
        readings += [
            *show(GOOD, at=float(poll)),
            read(RING, "ring.closed", 0.0, float(poll)),
            read(RING, "ring.broken_at", "n0/card3", float(poll)),
        ]
    verdicts = judge(find_rule(make_node(tmp_path), "ring.conflict"), readings)
    assert [verdict.level for verdict in verdicts] == [Level.UNSURE, Level.UNSURE, Level.RAISED, Level.RAISED]
    assert verdicts[-1].text == (
        "the library calls ring/r0 broken at n0/card3, by its links it is closed, for 4 readings: one of the two is wrong"
    )


def test_asked_again_without_news_it_counts_no_further(tmp_path: Path) -> None:
    readings = [*show(GOOD), read(RING, "ring.closed", 0.0), *(one for at in range(2, 9) for one in show(GOOD, at=float(at)))]
    assert judge(find_rule(make_node(tmp_path), "ring.conflict"), readings)[-1].level is Level.UNSURE


@pytest.mark.parametrize(
    ("place", "level"), [("n0/card3", Level.CLEAR), ("n0/card4/port1", Level.CLEAR), ("", Level.CLEAR), ("n0/card6", Level.RAISED)]
)
def test_both_find_it_broken_at_one_place(tmp_path: Path, place: str, level: Level) -> None:
    readings: list[Reading] = []
    for poll in range(4):
        readings += show(cut(GOOD, PORT), at=float(poll))
        readings += [read(RING, "ring.closed", 0.0, float(poll)), read(RING, "ring.broken_at", place, float(poll))]
    assert judge(find_rule(make_node(tmp_path), "ring.conflict"), readings)[-1].level is level


def test_a_library_that_sees_a_ring_where_there_are_two(tmp_path: Path) -> None:
    split = swap(GOOD, card(2, 1), card(6, 1))
    readings = [one for poll in range(4) for one in (*show(split, at=float(poll)), read(RING, "ring.closed", 1.0, float(poll)))]
    assert (
        "the library calls ring/r0 closed, by its links it is split"
        in judge(find_rule(make_node(tmp_path), "ring.conflict"), readings)[-1].text
    )


def test_nobody_to_compare_with(tmp_path: Path) -> None:
    assert judge(find_rule(make_node(tmp_path), "ring.conflict"), show(GOOD)) == []
    alone = ask(make_node(tmp_path), "ring.conflict", [read(RING, "ring.closed", 1.0)])
    assert (alone.level, alone.unseen) == (Level.UNSURE, ("our own view of the links is not whole",))


def make_case(kind: str, text: str, *, raised: bool = True, done: dict[str, Outcome] | None = None) -> Case:
    incident = Incident(id="i1", kind=kind, subject=RING, scope=RING, opened=1.0, severity=Severity.CRITICAL, text=text)
    return Case(incident=incident, still_raised=raised, done=done or {})


def test_people_are_told_once_and_what_to_do(tmp_path: Path) -> None:
    remedies = {remedy.answers: remedy for remedy in supernoded_ring.supernoded_remedies(RingSettings(), make_node(tmp_path))}
    assert sorted(remedies) == [f"ring.{kind}" for kind in ("broken", "conflict", "jitter", "mode", "order", "slow")]
    case, world = make_case("ring.slow", "the hop takes 3.4 us"), World(topology=make_node(tmp_path).topology)
    step = remedies["ring.slow"].next(case, world, 1.0)
    assert isinstance(step, Step)
    assert (step.kind, step.target, step.reason) == (
        "notify",
        RING,
        "the hop takes 3.4 us. Check that cable: its seat, its bends, its length.",
    )
    told = {"notify": Outcome(action="i1/notify", result=Result.DONE, text="", at=2.0)}
    assert remedies["ring.slow"].next(make_case("ring.slow", "x", done=told), world, 1.0) is None
    assert remedies["ring.slow"].next(make_case("ring.slow", "x", raised=False), world, 1.0) is None
