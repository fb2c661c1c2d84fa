"""Safety rule 13: every combination of flags meets exactly one row."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_power.status import KNOWN, ROWS, SILENT, STRANGER, Source, find_row, list_matches

WORDS = sorted(KNOWN)


def test_every_combination_meets_exactly_one_row() -> None:
    met = set[str]()
    for chosen in product((False, True), repeat=len(WORDS)):
        flags = frozenset(word for word, is_there in zip(WORDS, chosen, strict=True) if is_there)
        (row,) = list_matches(flags)
        met.add(row.name)
    assert len(WORDS) == 16
    assert met == {row.name for row in ROWS}  # and no row is dead


@given(st.frozensets(st.sampled_from([*WORDS, "hb", "vendor", ""])), st.sampled_from(["wait", "", "x"]))
def test_an_unknown_flag_is_a_conflict(flags: frozenset[str], stranger: str) -> None:
    assert list_matches(flags | {stranger}) == [STRANGER]
    assert STRANGER.source is Source.CONFLICT
    assert not STRANGER.sheds


def test_no_data_is_a_row_of_its_own() -> None:
    assert list_matches(None) == [SILENT]


@pytest.mark.parametrize(
    ("said", "name", "source"),
    [
        ("OL", "on-line", Source.MAINS),
        ("ol chrg", "recharging", Source.MAINS),
        ("ol alarm chrg", "alarm", Source.MAINS),
        ("ol trim", "trimming", Source.MAINS),
        ("ol boost lb over rb", "battery-bad", Source.MAINS),
        ("ol lb", "mains-low", Source.MAINS),
        ("ol over", "overloaded", Source.MAINS),
        ("alarm ol fsd", "forced-on-line", Source.MAINS),
        ("ol eco", "eco", Source.MAINS),
        ("ol test dischrg", "test", Source.MAINS),
        ("ol cal dischrg", "calibrating", Source.MAINS),
        ("ob cal dischrg lb", "battery-calibrating", Source.BATTERY),
        ("ob test", "battery-test", Source.BATTERY),
        ("ob dischrg", "battery", Source.BATTERY),
        ("ob lb", "battery-low", Source.BATTERY),
        ("ob rb", "battery-low", Source.BATTERY),
        ("fsd ob lb", "battery-forced", Source.BATTERY),
        ("fsd ob off", "off", Source.OFF),  # nut#2278
        ("ol off", "off-on-line", Source.OFF),
        ("ol bypass", "bypass", Source.BYPASS),
        ("ob bypass", "bypass-conflict", Source.CONFLICT),
        ("ol dischrg ob", "line-conflict", Source.CONFLICT),
        ("ol ob cal", "line-conflict", Source.CONFLICT),
        ("ol dischrg", "discharging", Source.CONFLICT),
        ("ol trim boost", "trim-conflict", Source.CONFLICT),
        ("fsd", "forced", Source.CONFLICT),
        ("", "nothing", Source.UNKNOWN),  # nut#2994
        ("chrg lb", "nothing", Source.UNKNOWN),
    ],
)
def test_what_is_said_means(said: str, name: str, source: Source) -> None:
    row = find_row(frozenset(said.split()))
    assert (row.name, row.source) == (name, source)


def test_what_follows_is_as_the_rule_has_it() -> None:
    for row in (*ROWS, SILENT, STRANGER):
        assert row.saves == (row.source is Source.CONFLICT or (row.source is Source.BATTERY and not row.on_purpose)), row.name
        assert not (row.sheds and row.source in {Source.BYPASS, Source.OFF, Source.CONFLICT, Source.UNKNOWN}), row.name
        assert not (row.second and row.source is Source.BATTERY), row.name  # what needs a second source is no outage by itself
    by_name = {row.name: row for row in ROWS}
    for name in ("bypass", "eco", "off", "off-on-line"):
        assert (by_name[name].rides, by_name[name].sheds, by_name[name].oftener) == (False, False, True)
    assert {row.name for row in ROWS if row.settles} == {"forced-on-line", "battery-bad", "mains-low", "overloaded"}


@given(st.frozensets(st.sampled_from(WORDS)), st.frozensets(st.sampled_from(WORDS)))
def test_more_flags_never_turn_a_conflict_into_a_shed(flags: frozenset[str], more: frozenset[str]) -> None:
    if {"ol", "ob"} <= flags:
        assert not find_row(flags | more).sheds


def test_words_that_say_nothing_here_are_left_out() -> None:
    assert find_row(frozenset({"OL", "HB"})) is STRANGER
    assert find_row(frozenset({"OL", "HB"}), ("hb",)).name == "on-line"
    assert find_row(frozenset({"ol", "dischrg"}), ("dischrg",)).name == "on-line"
