"""Time-outs with all links up are for want of buffer, and those with a reason in sight are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supernoded_network
from supernoded.history import History
from supernoded.model import Incident, Level, Reading, Severity, Step
from supernoded.parts import Case, World
from supernoded.testing import judge
from supernoded.topology import Topology
from supernoded_network.settings import NetworkSettings
from tests.plugins.network.readings import PORTS, SITE, ask, count, find_rule, make_node, read

PORT = PORTS[0]
TIMEOUTS = count("n0", "comm.timeouts", 3, 3, 5, 9)
UP = [one for port in PORTS for one in count(port, "link.state", 1, 1, 1, 1)]
CLEAN = [*count(PORT, "link.symbol_errors", 386, 386, 386, 387), *count("n0/card0", "card.temperature", 60, 61, 60, 60)]


def test_time_outs_with_all_links_up(tmp_path: Path) -> None:
    verdict = ask(tmp_path, "comm.buffer", [*TIMEOUTS, *UP, *CLEAN])
    assert (verdict.subject, verdict.level, verdict.severity, verdict.unseen) == ("n0", Level.RAISED, Severity.WARNING, ())
    assert verdict.text == (
        "n0: 6 communication time-outs in 300 s, while all 4 links are up and lose nothing: the communication buffer may be too small"
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (count(PORT, "link.state", 1, 0, 1, 1), "the link of n0/card0/port0 was down"),
        (count("n0/nic/mlx5_1/port1", "link.state", 1, 1, 0, 0), "the link of n0/nic/mlx5_1/port1 was down"),
        (count(PORT, "link.downed", 4, 4, 5, 5), "the link of n0/card0/port0 went down between two looks"),
        (count(PORT, "link.symbol_errors", 0, 0, 900, 900, source="b"), "n0/card0/port0 had 900 bit errors"),
        ([read(PORT, "link.ber.post_fec", 1e-10, 15.0)], "n0/card0/port0 has a BER of 1.0e-10, above 1e-12"),
        (count(PORT, "link.fec.uncorrected", 0, 1), "n0/card0/port0 had code words that could not be corrected"),
        (count("switch/s0", "switch.drops", 5, 6), "switch/s0 dropped 1 packets"),
        (count(PORT, "link.discards", 5, 5, 9), "n0/card0/port0 dropped 4 packets"),
        (count("n0/card1", "card.temperature", 70, 91, 84, 80), "n0/card1 was at 91 C, from 85 C on it may be throttled"),
        (count("n0/card1", "card.throttled", 0, 1, 0, 0), "n0/card1 says that heat has slowed it down"),
        ([read("n0/card1", "card.health", frozenset({"thermal-throttle"}), 15.0)], "n0/card1 reports thermal-throttle"),
    ],
)
def test_another_reason_in_the_same_window(tmp_path: Path, more: list[Reading], words: str) -> None:
    clean = [one for one in (*UP, *CLEAN) if not any((one.subject, one.quantity, one.at) == (m.subject, m.quantity, m.at) for m in more)]
    verdict = ask(tmp_path, "comm.buffer", [*TIMEOUTS, *clean, *more])
    assert (verdict.level, verdict.text) == (Level.CLEAR, f"n0: 6 communication time-outs in 300 s, but not for want of buffer: {words}")


@pytest.mark.parametrize("state", ["silent", "waiting", "gone"])
def test_beside_a_hang_it_cannot_be_told(tmp_path: Path, state: str) -> None:
    """A rank that waits here may wait for one that is silent on another node; its time-outs outlast the hang in the window."""
    ranks = [read("job/llm/rank1", "rank.state", word, at) for at, word in ((0.0, "running"), (15.0, state), (30.0, "running"))]
    verdict = ask(tmp_path, "comm.buffer", [*TIMEOUTS, *UP, *CLEAN, *ranks])
    assert verdict.level is Level.UNSURE
    assert "while job/llm/rank1 stood still or waited" in verdict.text


def test_ranks_that_step_leave_it_as_it_is(tmp_path: Path) -> None:
    ranks = [read("job/llm/rank1", "rank.state", "running", at) for at in (0.0, 15.0, 30.0)]
    assert ask(tmp_path, "comm.buffer", [*TIMEOUTS, *UP, *CLEAN, *ranks]).level is Level.RAISED


def test_a_node_among_others_says_that_it_does_not_see_them(tmp_path: Path) -> None:
    site = {**SITE, "rings": [{"name": "all", "level": "cluster", "order": ["n0", "n1", "n2"]}]}
    node = replace(make_node(tmp_path), topology=msgspec.convert(site, Topology))
    (rule,) = [rule for rule in supernoded_network.supernoded_rules(NetworkSettings(), node) if rule.kind == "comm.buffer"]
    verdict = judge(rule, [*TIMEOUTS, *UP, *CLEAN])[-1]
    assert verdict.level is Level.RAISED
    assert verdict.text.endswith("may be too small, unless a card elsewhere is hot or a link broken")
    assert verdict.unseen == ("cards and links of the 2 other nodes of its rings",)


def test_one_mad_sensor_of_a_die_is_no_heat(tmp_path: Path) -> None:
    mad = [*count("n0/card1", "card.temperature", 60, 150, 150, 150), *count("n0/card1", "card.temperature.median", 55, 55, 56, 56)]
    assert ask(tmp_path, "comm.buffer", [*TIMEOUTS, *UP, *CLEAN, *mad]).level is Level.RAISED


@pytest.mark.parametrize(
    ("timeouts", "level"),
    [((3, 3, 3), Level.CLEAR), ((3, 3, 4), Level.CLEAR), ((9, 0, 0), Level.CLEAR), ((9, 0, 2), Level.RAISED), ((7,), Level.UNSURE)],
)
def test_a_few_time_outs_are_no_pattern(tmp_path: Path, timeouts: tuple[float, ...], level: Level) -> None:
    assert ask(tmp_path, "comm.buffer", [*count("n0", "comm.timeouts", *timeouts), *UP, *CLEAN]).level is level


def test_errors_that_the_bits_explain_are_no_reason(tmp_path: Path) -> None:
    errors, bits = count(PORT, "link.symbol_errors", 0, 5, 10, 15), count(PORT, "link.bits", 0, 1e13, 2e13, 3e13)
    assert ask(tmp_path, "comm.buffer", [*TIMEOUTS, *UP, *errors, *bits]).level is Level.RAISED


def test_a_port_that_was_never_up_and_is_in_no_ring_is_no_reason(tmp_path: Path) -> None:
    spare = count("n0/nic/mlx5_9/port1", "link.state", 0, 0, 0, 0)
    assert ask(tmp_path, "comm.buffer", [*TIMEOUTS, *UP, *CLEAN, *spare]).level is Level.RAISED
    dead = [one for one in UP if one.subject != PORT]
    assert ask(tmp_path, "comm.buffer", [*TIMEOUTS, *dead, *count(PORT, "link.state", 0, 0)]).level is Level.CLEAR


def test_without_sight_of_the_links_nothing_is_said(tmp_path: Path) -> None:
    verdict = ask(tmp_path, "comm.buffer", TIMEOUTS)
    assert (verdict.level, verdict.unseen) == (Level.UNSURE, ("link.state: no link is seen up",))
    hidden = [*UP, read("n0/card5/port0", "link.state", None, 15.0, note="time-out")]
    assert ask(tmp_path, "comm.buffer", [*TIMEOUTS, *hidden]).unseen == ("link.state: 1 links are not seen",)


def test_what_nobody_reads_is_told(tmp_path: Path) -> None:
    assert ask(tmp_path, "comm.buffer", [*TIMEOUTS, *UP]).unseen == ("card.temperature: never read", "bit errors: never read")


def test_the_advice_has_the_unit_and_the_default(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    (diagnosis,) = supernoded_network.supernoded_diagnoses(NetworkSettings(), node)
    history = History(diagnosis.watches)
    history.add(TIMEOUTS, 60.0)
    causes = diagnosis.diagnose(history.view(20.0, diagnosis.watches), "n0")
    assert [(cause.name, cause.weight) for cause in causes] == [("communication buffer too small", 0.6)]
    assert "HCCL_BUFFSIZE, which is in MB and 200 where it is not set" in causes[0].advice  # N9
    incident = Incident(
        id="i1", kind="comm.buffer", subject="n0", scope="node", opened=1.0, severity=Severity.WARNING, text="n0: time-outs"
    )
    remedies = {one.answers: one for one in supernoded_network.supernoded_remedies(NetworkSettings(), node)}
    for given_causes in (tuple(causes), ()):
        step = remedies["comm.buffer"].next(Case(incident=incident, causes=given_causes), World(topology=Topology()), 1.0)
        assert isinstance(step, Step)
        assert (step.kind, "Raise HCCL_BUFFSIZE, which is in MB and 200" in step.reason) == ("notify", True)


QUANTITIES = [
    "link.state",
    "link.downed",
    "link.bits",
    "link.symbol_errors",
    "link.discards",
    "switch.drops",
    "comm.timeouts",
    "card.temperature",
    "link.mtu",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(
        st.builds(
            read,
            st.sampled_from([*PORTS, "n0", "switch/s0", ""]),
            st.sampled_from(QUANTITIES),
            st.sampled_from([None, 0.0, 1.0, 99.0, 1e9]),
            st.sampled_from([0.0, 5.0, 10.0]),
        ),
        max_size=40,
    )
)
def test_no_reading_makes_a_rule_raise_an_error(tmp_path: Path, readings: list[Reading]) -> None:
    for kind in ("switch.settings", "link.loss", "link.mtu", "comm.buffer"):
        rule = find_rule(tmp_path, kind)
        for verdict in judge(rule, [one for one in readings if one.quantity in rule.watches]):
            assert verdict.kind == kind
            assert verdict.level is not Level.UNSURE or verdict.unseen
