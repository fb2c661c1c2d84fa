"""Silent loss: drops without a mark and without a pause, at switches and at NICs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supernoded_network
from supernoded.history import History
from supernoded.model import Level, Reading, State, Verdict
from supernoded.plugin import Cause
from supernoded.testing import judge
from supernoded_network.growth import grow
from supernoded_network.settings import NetworkSettings
from tests.plugins.network.readings import ask, count, find_rule, make_node, read

SWITCH, PORT = "switch/s0", "n0/card0/port0"


def show(drops: tuple[float, ...], marks: tuple[float, ...] = (4, 4, 4), pauses: tuple[float, ...] = (2, 2, 2)) -> list[Reading]:
    return [
        *count(SWITCH, "switch.drops", *drops),
        *count(SWITCH, "switch.marks", *marks),
        *count(SWITCH, "switch.pauses", *pauses),
    ]


@pytest.mark.parametrize(
    ("readings", "level"),
    [
        (show((7, 7, 7)), Level.CLEAR),  # totals of another time
        (show((7, 7, 8)), Level.RAISED),
        (show((7, 7, 900), marks=(4, 4, 5)), Level.CLEAR),  # senders were told
        (show((7, 7, 900), pauses=(2, 3, 3)), Level.CLEAR),
        (show((900, 3, 3)), Level.CLEAR),  # a reset is no loss
        (show((900, 3, 4)), Level.RAISED),
        (show((7,)), Level.UNSURE),
        (show((7, 9), marks=(4,)), Level.UNSURE),
        (show((7, 9), marks=()), Level.UNSURE),
    ],
)
def test_at_a_switch(tmp_path: Path, readings: list[Reading], level: Level) -> None:
    assert ask(tmp_path, "link.loss", readings).level is level


def test_it_says_how_much_and_why(tmp_path: Path) -> None:
    verdict = ask(tmp_path, "link.loss", show((7, 7, 907)))
    assert verdict.text == (
        "switch/s0 dropped 900 packets in 150 s with no ECN mark and no pause: silent loss, a threshold of ECN or PFC is wrong"
    )
    unseen = ask(tmp_path, "link.loss", show((7, 9), marks=(), pauses=(2,))).unseen
    assert unseen == ("switch.marks: never read", "switch.pauses: only a baseline so far")


def test_it_is_over_when_the_window_is_clean(tmp_path: Path) -> None:
    totals = (7, *[907] * 34)
    verdicts = judge(find_rule(tmp_path, "link.loss"), show(totals, marks=(4,) * 35, pauses=(2,) * 35))
    assert [verdict.level for verdict in verdicts].index(Level.RAISED) == 1
    assert verdicts[-1].level is Level.CLEAR


@pytest.mark.parametrize(
    ("others", "level"),
    [
        ([*count(PORT, "link.ecn_marked", 1, 1), *count(PORT, "link.pauses_received", 0, 0)], Level.RAISED),
        ([*count(PORT, "link.ecn_marked", 1, 1), *count(PORT, "link.cnp_sent", 1, 2), *count(PORT, "link.pauses_sent", 0, 0)], Level.CLEAR),
        ([*count(PORT, "link.ecn_marked", 1, 1), *count(PORT, "link.pauses_sent", 0, 5)], Level.CLEAR),
        ([*count(PORT, "link.pauses_sent", 0, 0)], Level.UNSURE),
        ([], Level.UNSURE),
    ],
)
def test_at_a_nic(tmp_path: Path, others: list[Reading], level: Level) -> None:
    verdict = ask(tmp_path, "link.loss", [*count(PORT, "link.discards", 10, 30), *others])
    assert (verdict.subject, verdict.level) == (PORT, level)


def test_what_a_link_drops_while_it_is_down_is_another_matter(tmp_path: Path) -> None:
    nothing = [*count(PORT, "link.ecn_marked", 1, 1), *count(PORT, "link.pauses_sent", 0, 0)]
    readings = [*count(PORT, "link.discards", 10, 30), *nothing, *count(PORT, "link.state", 0, 1)]
    assert ask(tmp_path, "link.loss", readings).level is Level.CLEAR


def test_counters_of_two_sources_are_not_mixed(tmp_path: Path) -> None:
    nothing = [*count(PORT, "link.ecn_marked", 1, 1, 1), *count(PORT, "link.pauses_sent", 0, 0, 0)]
    apart = [*count(PORT, "link.discards", 10, 10, 10, source="a"), *count(PORT, "link.discards", 500, 500, 500, source="b")]
    assert ask(tmp_path, "link.loss", [*apart, *nothing]).level is Level.CLEAR
    grown = [*count(PORT, "link.discards", 10, 10, 10, source="a"), *count(PORT, "link.discards", 500, 500, 501, source="b")]
    assert ask(tmp_path, "link.loss", [*grown, *nothing]).level is Level.RAISED


def test_a_counter_at_its_ceiling_does_not_say_that_nothing_is_lost(tmp_path: Path) -> None:
    full = [read(SWITCH, "switch.drops", None, float(at), note="saturated, cannot measure") for at in range(3)]
    verdict = ask(tmp_path, "link.loss", [*full, *show(())])
    assert (verdict.level, verdict.unseen) == (Level.UNSURE, ("switch.drops: saturated, cannot measure",))


def judge_after(folder: Path, silence: dict[str, float], readings: list[Reading]) -> Verdict:
    """Asked at 60 s; each quantity counts as fresh for so long, else for ever."""
    rule = find_rule(folder, "link.loss")
    history = History(rule.watches)
    for reading in readings:
        history.add([reading], silence.get(reading.quantity, 1e9))
    memory = rule.start()
    for _ in range(2):  # what was seen before must not be taken for what is
        memory, (verdict,) = rule.judge(history.view(60.0, rule.watches), memory)
    return verdict


@pytest.mark.parametrize("silent", ["switch.drops", "switch.marks", "switch.pauses"])
def test_a_counter_that_is_no_longer_read_does_not_stand_still(tmp_path: Path, silent: str) -> None:
    readings = show((7, 7, 7) if silent == "switch.drops" else (7, 7, 907))
    verdict = judge_after(tmp_path, {silent: 12.0}, readings)
    assert (verdict.level, verdict.unseen[0].startswith(silent)) == (Level.UNSURE, True)


def test_drops_that_were_seen_stand_when_their_counter_is_no_longer_read(tmp_path: Path) -> None:
    assert judge_after(tmp_path, {"switch.drops": 12.0}, show((7, 7, 907))).level is Level.RAISED


def test_a_counter_that_stood_still_is_walked_again_once_it_moves(tmp_path: Path) -> None:
    verdicts = judge(find_rule(tmp_path, "link.loss"), show((7, 7, 7, 8, 8), (4,) * 5, (2,) * 5))
    assert [verdict.level for verdict in verdicts[1:]].count(Level.RAISED) >= 2
    assert verdicts[-1].level is Level.RAISED


def diagnose(folder: Path, readings: list[Reading]) -> list[Cause]:
    (diagnosis,) = supernoded_network.supernoded_diagnoses(NetworkSettings(), make_node(folder))
    history = History(diagnosis.watches)
    history.add([one for one in readings if one.quantity in diagnosis.watches], 60.0)
    return list(diagnosis.diagnose(history.view(10.0, diagnosis.watches), SWITCH))


def test_the_cause_is_the_ecn_threshold(tmp_path: Path) -> None:
    (alone,) = diagnose(tmp_path, show((7, 7, 907)))
    assert (alone.name, alone.weight, alone.against) == ("ECN threshold too high", 0.5, ("switch.ecn_threshold: never read",))
    high = [read(SWITCH, "switch.ecn_threshold", 130_000.0, 9.0), read(SWITCH, "switch.pfc_threshold", 120_000.0, 9.0)]
    drift, cause = diagnose(tmp_path, [*show((7, 7, 907)), *high])
    assert (drift.name, cause.name, cause.subject, cause.weight) == ("settings drift", "ECN threshold too high", SWITCH, 0.85)
    assert cause.evidence == ("900 packets were dropped in 150 s", "switch/s0 marks from 130000 B on")
    assert cause.advice == "Lower the ECN threshold of switch/s0 to 110000 B."


def test_the_cause_is_the_pfc_threshold_where_that_one_is_wrong(tmp_path: Path) -> None:
    low = [read(SWITCH, "switch.ecn_threshold", 110_000.0, 9.0), read(SWITCH, "switch.pfc_threshold", 60_000.0, 9.0)]
    causes = {cause.name: cause for cause in diagnose(tmp_path, [*show((7, 7, 907)), *low])}
    assert "ECN threshold too high" not in causes
    assert causes["PFC threshold wrong"].advice == "Set the PFC threshold of switch/s0 to 120000 B."
    assert causes["PFC threshold wrong"].evidence == ("900 packets were dropped in 150 s", "switch/s0 pauses from 60000 B on")


TOTALS = st.lists(st.one_of(st.none(), st.integers(0, 10_000)), max_size=20)


@given(TOTALS)
def test_growth_is_what_was_added_between_resets(totals: list[int | None]) -> None:
    readings = [
        Reading(
            subject="x",
            quantity="q",
            value=None if t is None else float(t),
            unit="1",
            at=float(n),
            state=State.UNKNOWN if t is None else State.GOOD,
        )
        for n, t in enumerate(totals)
    ]
    known = [total for total in totals if total is not None]
    grown = grow(readings)
    assert (grown is None) == (len(known) < 2)
    if grown is not None:
        assert grown >= max(known[-1] - known[0], 0)
        assert grown == known[-1] - known[0] or known != sorted(known)
