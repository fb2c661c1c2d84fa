"""What a driver says in several ways at a time is one view of its card: by pairs over the whole table of codes."""

from __future__ import annotations

from itertools import combinations

import pytest

from supernoded_isolation.evidence import Bounds, Evidence, find_blame, follow
from supernoded_isolation.evidence.card_views import SPEAKS, TAKES_OUT
from supernoded_isolation.evidence.words import BUS, MEMORY, ONE_EVENT_S, RANKS, TOOL
from supernoded_isolation.health import LOST
from supernoded_isolation.health.codes import RANKS as SEVERITIES
from tests.plugins.isolation.site import CARDS, TABLE, Court

CARD = CARDS[2]
BOUNDS = Bounds(2, 3)
CODES = sorted({*TABLE.levels, "8c084e00", "80e01801", "dead0001"} - {"alarm"})
WEAK = [code for code in CODES if SEVERITIES[TABLE.level(code)] >= SPEAKS and TABLE.level(code) not in TAKES_OUT]


def tell(code: str, at: float) -> Evidence:
    """What a code says, as `look_at_card` has it."""
    level = TABLE.level(code)
    view = BUS if level == LOST else MEMORY if TABLE.is_of_memory(code) else TOOL
    return Evidence(view, at, code, grave=level in TAKES_OUT)


def count(at: float) -> Evidence:
    """An uncorrected error was counted."""
    return Evidence(MEMORY, at, "1 came", passing=True)


def test_there_are_codes_of_both_kinds() -> None:
    assert {"8c084e00", "80e01801", "recovery-drain-p2p", "xid94"} <= set(WEAK)
    assert TABLE.is_of_memory("XID94")
    assert TABLE.is_of_memory("0x80e01801")
    assert not TABLE.is_of_memory("8C03A000")


@pytest.mark.parametrize("late", [-ONE_EVENT_S, -30.0, 0.0, 30.0, ONE_EVENT_S])
def test_no_code_and_the_count_of_its_error_blame_a_card_together(late: float) -> None:
    for code in WEAK:
        marks = follow({}, [tell(code, 100.0), count(100.0 + late)], 160.0, 3600.0)
        for at in (190.0, 220.0, 250.0, 280.0):
            marks = follow(marks, [tell(code, at)], at, 3600.0)
            assert not find_blame([one.evidence for one in marks.values()], BOUNDS), code


def test_no_two_codes_of_one_time_do_either_unless_one_takes_it_out_alone() -> None:
    for one, other in combinations(CODES, 2):
        told = [tell(code, 100.0) for code in (one, other) if SEVERITIES[TABLE.level(code)] >= SPEAKS]
        assert not find_blame(told, BOUNDS), (one, other)


def test_any_of_them_and_a_silent_rank_do() -> None:
    for code in WEAK:
        assert find_blame([tell(code, 100.0), Evidence(RANKS, 100.0, "silent")], BOUNDS), code


def test_another_error_long_after_the_code_is_another_view() -> None:
    marks = follow({}, [tell("8C084E00", 100.0), count(100.0)], 100.0, 3600.0)
    marks = follow(marks, [tell("8C084E00", 900.0), count(900.0)], 900.0, 3600.0)
    assert find_blame([one.evidence for one in marks.values()], BOUNDS)
    marks = follow({}, [tell("XID94", 100.0), count(900.0)], 900.0, 3600.0)
    assert not find_blame([one.evidence for one in marks.values()], BOUNDS)  # that code is about the same memory


@pytest.mark.parametrize("code", ["8C084E00", "80E01801", "recovery-drain-p2p", "XID94"])
def test_in_a_whole_court_one_uncorrected_error_takes_no_card_out(court: Court, code: str) -> None:
    court.site.more[CARD, "card.errors_uncorrected"] = 3.0
    court.run(2)
    court.site.more[CARD, "card.errors_uncorrected"] = 4.0
    court.site.codes[CARD] = frozenset({code})
    court.run(30)
    assert court.raised == set()
    court.site.silence(2)
    court.run(2)
    assert court.raised == {("card.silent", CARD)}


def test_a_code_of_memory_that_is_gone_speaks_no_more() -> None:
    marks = follow({}, [tell("XID94", 100.0)], 100.0, 3600.0)
    assert follow(marks, [], 105.0, 3600.0) == {}
