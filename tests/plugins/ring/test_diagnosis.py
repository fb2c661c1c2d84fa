"""Why a ring is in trouble, and what to touch."""

from __future__ import annotations

from pathlib import Path

import supernoded_ring
from supernoded.history import History
from supernoded.plugin import Cause
from supernoded_ring.settings import RingSettings
from tests.plugins.ring.test_rules import GOOD, RING, make_node, show
from tests.plugins.ring.wiring import Mates, card, cut, make_site, swap


def diagnose(folder: Path, mates: Mates, subject: str = RING) -> list[Cause]:
    node = make_node(folder, make_site(rings=2))
    diagnoses = supernoded_ring.supernoded_diagnoses(RingSettings(), node)
    assert [one.name for one in diagnoses] == ["ring/r0", "ring/r1"]
    history = History(diagnoses[0].watches)
    history.add(show(mates, at=7.0), 60.0)
    return list(diagnoses[0].diagnose(history.view(8.0, diagnoses[0].watches), subject))


def test_a_good_ring_has_no_cause(tmp_path: Path) -> None:
    assert diagnose(tmp_path, GOOD) == []


def test_nothing_is_said_of_other_things(tmp_path: Path) -> None:
    assert diagnose(tmp_path, cut(GOOD, card(3, 0)), "ring/r1") == []


def test_a_broken_hop_is_most_often_an_optic_not_fully_seated(tmp_path: Path) -> None:
    (cause,) = diagnose(tmp_path, cut(GOOD, card(3, 0)))
    assert (cause.name, cause.subject, cause.weight, cause.at) == ("missing hop", "n0/card3/port0", 0.9, 7.0)  # L6
    assert cause.advice.startswith("Reseat the optic of n0/card3/port0, then of n0/card4/port1: 90 % of ring breaks")
    assert len(cause.evidence) == 2


def test_swapped_ports_come_with_their_moves(tmp_path: Path) -> None:
    (cause,) = diagnose(tmp_path, swap(GOOD, card(3, 0), card(3, 1)))
    assert (cause.name, cause.subject) == ("wrong port", "n0/card3")
    assert cause.advice.startswith("2 re-plugged cable ends repair it: (1) Take the end in n0/card3/port0 out")


def test_what_is_seen_wrong_comes_before_what_may_only_be_loose(tmp_path: Path) -> None:
    causes = diagnose(tmp_path, cut(swap(GOOD, card(3, 0), card(3, 1)), card(6, 0)))
    assert [cause.name for cause in causes] == ["wrong port", "missing hop"]
