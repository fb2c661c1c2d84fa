"""Cards that are gone, and cards that only seem so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.history import History
from supernoded.plugin import Level, Reading, Severity, State, Value, Verdict
from supernoded.testing import judge
from supernoded_isolation.health.codes import build_table
from supernoded_isolation.health.lost import LostMemory, LostRule
from supernoded_isolation.settings import IsolationSettings

UNITS = {"card.present": "1", "card.temperature": "C", "card.health": "flags", "card.serial": "text", "host.uptime": "s"}
DECLARED = [f"n0/card{slot}" for slot in range(4)]
POLL = 10.0


def make(declared: Sequence[str] = (), maintained: Sequence[str] = ()) -> LostRule:
    return LostRule("n0", declared, build_table(), IsolationSettings(), lambda subject: subject in maintained)


def read(card: str, quantity: str, value: Value, at: float, source: str = "smi", note: str = "") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=card, quantity=quantity, value=value, unit=UNITS[quantity], at=at, state=state, note=note, source=source)


def poll(at: float, alive: Iterable[str], silent: Iterable[str] = (), source: str = "smi", note: str = "hung") -> Iterator[Reading]:
    """One look: of some cards presence and temperature, of others nothing."""
    for card in alive:
        yield read(card, "card.present", 1.0, at, source)
        yield read(card, "card.temperature", 40.0, at, source)
    for card in silent:
        yield read(card, "card.present", None, at, source, note)
        yield read(card, "card.temperature", None, at, source, note)


def boot(uptime: float, at: float) -> Reading:
    return read("n0", "host.uptime", uptime, at, "host")


def follow(readings: Iterable[Reading], subject: str, rule: LostRule | None = None) -> list[Verdict]:
    return [verdict for verdict in judge(rule or make(), readings) if verdict.subject == subject]


def levels(verdicts: Iterable[Verdict]) -> list[Level]:
    return [verdict.level for verdict in verdicts]


def test_cards_that_answer_are_clear() -> None:
    assert levels(judge(make(DECLARED), poll(0.0, DECLARED))) == [Level.CLEAR] * 4


def test_the_word_of_a_source_is_enough() -> None:
    readings = [
        *poll(0.0, DECLARED),
        read(DECLARED[3], "card.serial", "SN3", 0.0),
        *poll(POLL, DECLARED[:3]),
        read(DECLARED[3], "card.present", 0.0, POLL, note="GPU is lost"),
        read(DECLARED[3], "card.temperature", None, POLL),
    ]
    verdict = follow(readings, DECLARED[3])[-1]
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.CRITICAL)
    assert verdict.text.startswith("n0/card3 (serial SN3): the card is gone (GPU is lost): see that it sits in its slot")


def test_only_the_named_card_is_lost_the_others_are_unknown_until_asked() -> None:
    readings = [*poll(0.0, DECLARED), *poll(POLL, (), DECLARED[:3]), read(DECLARED[3], "card.present", 0.0, POLL)]
    verdicts = judge(make(DECLARED), readings)[-4:]
    assert levels(verdicts) == [Level.UNSURE] * 3 + [Level.RAISED]


@pytest.mark.parametrize("flag", ["lost", "XID79"])
def test_a_source_may_call_a_card_lost_that_was_never_seen(flag: str) -> None:
    readings = [read(DECLARED[0], "card.present", 0.0, 0.0), read(DECLARED[0], "card.health", frozenset({flag}), 0.0)]
    assert levels(judge(make(), readings)) == [Level.RAISED]


def test_two_views_that_contradict_each_other_are_told_as_that() -> None:
    readings = [*poll(0.0, DECLARED), read(DECLARED[0], "card.present", 0.0, 5.0, "kernel", "fallen off the bus")]
    verdict = follow(readings, DECLARED[0])[-1]
    assert verdict.level is Level.RAISED
    assert "though something of it is still read" in verdict.text


def test_it_clears_when_the_card_is_back() -> None:
    readings = [
        *poll(0.0, DECLARED),
        read(DECLARED[0], "card.present", 0.0, 5.0, "kernel"),
        *poll(POLL, DECLARED),
        read(DECLARED[0], "card.present", None, POLL, "kernel", "no longer reported by its source"),
    ]
    assert levels(follow(readings, DECLARED[0])) == [Level.CLEAR, Level.RAISED, Level.CLEAR]


def test_silence_among_siblings_counts_after_three_looks() -> None:
    readings = [*poll(0.0, DECLARED), *(r for n in range(1, 6) for r in poll(n * POLL, DECLARED[1:], DECLARED[:1], note="no such card"))]
    verdicts = follow(readings, DECLARED[0])
    assert levels(verdicts) == [Level.CLEAR, Level.UNSURE, Level.UNSURE, Level.RAISED, Level.RAISED, Level.RAISED]
    assert verdicts[3].severity is Severity.WARNING
    assert verdicts[3].text.startswith(
        "n0/card0: nothing of it was read 3 times in a row, where 3 count as lost, while others report (no such card)"
    )
    assert verdicts[1].unseen == ("all of n0/card0",)


def test_silence_that_ends_starts_anew() -> None:
    gaps = [False, True, True, False, True, True, False]
    readings = [r for n, gap in enumerate(gaps) for r in poll(n * POLL, DECLARED[gap:], DECLARED[:gap])]
    assert Level.RAISED not in levels(follow(readings, DECLARED[0]))


def test_a_source_that_cannot_be_read_makes_no_card_lost() -> None:
    readings = [*poll(0.0, DECLARED), *(r for n in range(1, 30) for r in poll(n * POLL, (), DECLARED))]
    verdicts = follow(readings, DECLARED[2])[1:]
    assert set(levels(verdicts)) == {Level.UNSURE}
    assert verdicts[0].text == "n0/card2: no card can be read by its source (hung)"


def test_siblings_by_another_source_prove_nothing() -> None:
    ours, others = DECLARED[:1], DECLARED[1:]
    readings = [
        r
        for n in range(9)
        for r in (*poll(n * POLL, others, source="a"), *poll(n * POLL, ours if n < 2 else (), ours if n > 1 else (), "b"))
    ]
    assert set(levels(follow(readings, DECLARED[0]))) == {Level.CLEAR, Level.UNSURE}


def test_one_source_that_still_reads_it_is_enough() -> None:
    readings = [
        r for n in range(9) for r in (*poll(n * POLL, DECLARED[1:], DECLARED[:1] if n else ()), *poll(n * POLL, DECLARED, source="b"))
    ]
    assert set(levels(follow(readings, DECLARED[0]))) == {Level.CLEAR}


def test_every_source_that_reads_siblings_has_to_miss_it_often_enough() -> None:
    ours, others = DECLARED[:1], DECLARED[1:]
    fast = [r for n in range(9) for r in poll(n * POLL, DECLARED if n < 4 else others, ours if n >= 4 else ())]
    slow = [r for n in range(3) for r in poll(n * 4 * POLL, DECLARED if n < 1 else others, ours if n >= 1 else (), "slow")]
    assert Level.RAISED not in levels(follow([*fast, *slow], DECLARED[0]))
    slow += poll(12 * POLL, others, ours, "slow")
    fast += [r for n in range(9, 13) for r in poll(n * POLL, others, ours)]
    assert levels(follow([*fast, *slow], DECLARED[0]))[-1] is Level.RAISED


def test_a_lone_card_that_falls_silent_is_not_lost() -> None:
    readings = [*poll(0.0, DECLARED[:1]), *(r for n in range(1, 9) for r in poll(n * POLL, (), DECLARED[:1]))]
    assert levels(follow(readings, DECLARED[0])) == [Level.CLEAR] + [Level.UNSURE] * 8


def test_a_presence_of_0_where_none_ever_was() -> None:
    readings = [
        r for n in range(4) for r in (*poll(n * POLL, DECLARED[1:]), read("n0/card9", "card.present", 0.0, n * POLL), boot(999.0, n * POLL))
    ]
    verdict = follow(readings, "n0/card9", make(DECLARED))[-1]
    assert (verdict.level, verdict.text) == (Level.CLEAR, "n0/card9: no card was ever seen there, and none is declared")


@pytest.mark.parametrize(("uptime", "level"), [(299.0, Level.UNSURE), (301.0, Level.RAISED)])
def test_declared_and_never_seen_waits_for_the_boot(uptime: float, level: Level) -> None:
    readings = [r for n in range(4) for r in (*poll(n * POLL, DECLARED[1:]), boot(uptime, n * POLL))]
    verdicts = follow(readings, DECLARED[0], make(DECLARED))
    assert levels(verdicts) == [Level.UNSURE, Level.UNSURE, level, level]
    assert verdicts[-1].severity is Severity.WARNING
    assert verdicts[-1].text.startswith(
        "n0/card0: declared and never seen since the start" if level is Level.RAISED else "n0/card0: not seen"
    )


def test_the_same_of_one_that_a_source_looks_for_in_vain() -> None:
    readings = [
        r
        for n in range(4)
        for r in (*poll(n * POLL, DECLARED[1:]), read(DECLARED[0], "card.present", 0.0, n * POLL), boot(9999.0, n * POLL))
    ]
    assert levels(follow(readings, DECLARED[0], make(DECLARED)))[-1] is Level.RAISED


def test_without_an_uptime_it_waits_as_long_itself() -> None:
    readings = [r for n in range(40) for r in poll(n * POLL, DECLARED[1:])]
    found = levels(follow(readings, DECLARED[0], make(DECLARED)))
    assert found == [Level.UNSURE] * 30 + [Level.RAISED] * 10


def test_where_nobody_reports_cards_nothing_is_said() -> None:
    assert judge(make(DECLARED), [boot(9999.0, n * POLL) for n in range(5)]) == []
    assert judge(make(DECLARED), [r for n in range(5) for r in poll(n * POLL, (), ("n0/card0",))])[-1].level is Level.UNSURE


def test_undeclared_and_not_seen_since_the_start_is_not_lost() -> None:
    rule, history = make(), History(make().watches)
    history.add(poll(0.0, DECLARED[1:]), 60.0)
    memory, verdicts = rule.judge(history.view(0.0, rule.watches), LostMemory({DECLARED[0]: "SN0"}))
    assert [verdict.subject for verdict in verdicts] == DECLARED[1:]
    assert memory.seen == {DECLARED[0]: "SN0", DECLARED[1]: "", DECLARED[2]: "", DECLARED[3]: ""}


def test_what_is_remembered_outlives_a_restart() -> None:
    rule, history = make(), History(make().watches)
    history.add([read(DECLARED[0], "card.present", 0.0, 0.0)], 60.0)
    memory = LostMemory({DECLARED[0]: "SN0"})
    kept, (verdict,) = rule.judge(history.view(0.0, rule.watches), memory)
    assert (verdict.level, kept) == (Level.RAISED, memory)
    assert verdict.text.startswith("n0/card0 (serial SN0): the card is gone (smi does not see it on the bus)")


def test_cards_that_are_not_mapped_are_counted() -> None:
    def look(count: int, uptime: float) -> list[Verdict]:
        strange = [f"n0/gpu/{slot}" for slot in range(count)]
        return judge(make(DECLARED), [r for n in range(3) for r in (*poll(n * POLL, strange), boot(uptime, n * POLL))])

    short = {verdict.subject: verdict for verdict in look(3, 999.0)}
    assert short["n0"].level is Level.RAISED
    assert short["n0"].text.startswith("n0: 4 cards are declared and 3 report; name their slots")
    assert {short[card].level for card in DECLARED} == {Level.UNSURE}
    assert {verdict.subject: verdict.level for verdict in look(4, 999.0)}["n0"] is Level.CLEAR
    assert {verdict.subject: verdict.level for verdict in look(3, 100.0)}["n0"] is Level.UNSURE


def test_under_maintenance_nothing_is_said() -> None:
    readings = [*poll(0.0, DECLARED), read(DECLARED[0], "card.present", 0.0, POLL)]
    assert set(levels(follow(readings, DECLARED[0], make((), DECLARED[:1])))) == {Level.UNSURE}


@given(st.lists(st.lists(st.sampled_from(["alive", "gone", "silent"]), min_size=4, max_size=4), min_size=1, max_size=8))
def test_each_card_gets_one_verdict_a_look_and_no_living_one_is_lost(looks: list[list[str]]) -> None:
    readings: list[Reading] = []
    for n, states in enumerate(looks):
        cards = dict(zip(DECLARED, states, strict=True))
        readings += poll(n * POLL, [c for c, s in cards.items() if s == "alive"], [c for c, s in cards.items() if s == "silent"])
        for card in (c for c, s in cards.items() if s == "gone"):
            readings += [read(card, "card.present", 0.0, n * POLL), read(card, "card.temperature", None, n * POLL)]
    last = {verdict.subject: verdict for verdict in judge(make(DECLARED), readings) if verdict.at == (len(looks) - 1) * POLL}
    for card, state in zip(DECLARED, looks[-1], strict=True):
        assert state != "alive" or last[card].level is Level.CLEAR
        assert state != "silent" or any(s == "alive" for s in looks[-1]) or last[card].level is Level.UNSURE


def test_cards_of_other_nodes_are_not_counted() -> None:
    """A daemon may read other nodes by their BMC: when one of those is dark, it is not for this node to say."""
    others = [f"n1/card{slot}" for slot in range(4)]
    readings = [r for n in range(3) for r in (*poll(n * POLL, DECLARED), *poll(n * POLL, others, source="bmc"), boot(999.0, n * POLL))]
    readings += [*poll(3 * POLL, DECLARED), *poll(3 * POLL, others[:2], others[2:], source="bmc")]
    assert {verdict.subject for verdict in judge(make(DECLARED), readings)} == set(DECLARED)
