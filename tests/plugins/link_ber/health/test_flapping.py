"""Links that come and go: by counters, by records, by what was sampled; never by the sum of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.history import History
from supernoded.plugin import Level, Reading, Severity, Verdict
from supernoded.testing import Judge
from supernoded_link_ber.health.flapping import FlappingMemory, FlappingRule
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.tales import MOST, Tale, hear
from supernoded_link_ber.settings import LinkBerSettings

PORT, NIC = "n0/card0/port0", "n0/nic/ib6"
Read = Callable[..., Reading]
MakeRule = Callable[..., FlappingRule]


@pytest.fixture
def make_rule(make_ports: Callable[..., Ports]) -> MakeRule:
    def make(*maintenance: str) -> FlappingRule:
        return FlappingRule(make_ports(*maintenance), LinkBerSettings())

    return make


@pytest.fixture
def count(read: Read) -> Callable[..., list[Reading]]:
    """A counter read every 5 s."""

    def make(totals: Iterable[float], quantity: str = "link.downed", source: str = "tool", port: str = PORT) -> list[Reading]:
        return [read(port, quantity, total, 5.0 * n, source) for n, total in enumerate(totals)]

    return make


def levels(verdicts: list[Verdict]) -> list[Level]:
    return [verdict.level for verdict in verdicts]


Count = Callable[..., list[Reading]]


def test_healthy_and_near_miss(supernoded_judge: Judge, make_rule: MakeRule, count: Count) -> None:
    assert set(levels(supernoded_judge(make_rule(), count([7.0] * 20)))) == {Level.CLEAR}  # 7 is a baseline
    verdicts = supernoded_judge(make_rule(), count([7.0, 8.0, 9.0, 9.0]))
    assert set(levels(verdicts)) == {Level.CLEAR}
    assert verdicts[-1].text == f"{PORT}: the link went down 2 times (by tool) within 10 min"


def test_flaps_between_two_polls_are_seen(supernoded_judge: Judge, make_rule: MakeRule, count: Count, read: Read) -> None:
    """The sampled state was up all the time."""
    up = [read(PORT, "link.state", 1.0, 5.0 * n, "kernel") for n in range(4)]
    verdict = supernoded_judge(make_rule(), [*up, *count([7.0, 8.0, 9.0, 10.0])])[-1]
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.CRITICAL)
    assert verdict.text == f"{PORT}: the link went down 3 times (by tool) within 10 s; 3 within 10 min are too many"


def test_it_clears_after_ten_quiet_minutes_and_not_before(supernoded_judge: Judge, make_rule: MakeRule, count: Count) -> None:
    verdicts = supernoded_judge(make_rule(), count([0.0, 3.0, *[3.0] * 130]))
    assert levels(verdicts)[1:121] == [Level.RAISED] * 120
    assert levels(verdicts)[121] is Level.CLEAR
    assert levels(verdicts)[-1] is Level.CLEAR


def test_one_more_down_keeps_it(supernoded_judge: Judge, make_rule: MakeRule, count: Count) -> None:
    verdicts = supernoded_judge(make_rule(), count([0.0, 3.0, *[3.0] * 100, *[4.0] * 100]))
    assert set(levels(verdicts)[1:]) == {Level.RAISED}
    assert "the link was flapping and last went down" in verdicts[-1].text


def test_three_downs_in_an_hour_are_a_near_miss(supernoded_judge: Judge, make_rule: MakeRule, read: Read) -> None:
    readings = [read(PORT, "link.downed", float(at // 1200), 5.0 * (at // 5)) for at in range(0, 3700, 5)]
    assert set(levels(supernoded_judge(make_rule(), readings))) == {Level.CLEAR}


def test_sources_count_the_same_flaps(supernoded_judge: Judge, make_rule: MakeRule, count: Count) -> None:
    """Two by each of three sources are two."""
    readings = [*count([0.0, 1.0, 2.0]), *count([50.0, 51.0, 52.0], source="sysfs"), *count([1.0, 2.0, 3.0], "link.recoveries")]
    assert set(levels(supernoded_judge(make_rule(), readings))) == {Level.CLEAR}


def test_sampled_states_count_where_no_counter_is(supernoded_judge: Judge, make_rule: MakeRule, count: Count) -> None:
    verdict = supernoded_judge(make_rule(), count([1.0, 0.0] * 3, "link.state"))[-1]
    assert verdict.level is Level.RAISED
    assert "the link was seen to go down 3 times (by tool) within 20 s" in verdict.text


def test_a_burst_of_lines_is_one_event_of_one_device(supernoded_judge: Judge, make_rule: MakeRule, read: Read) -> None:
    """Six lost carriers in five seconds, as a log has them."""
    lines = [read(NIC, "link.state", float(n % 2), 0.45 * n, "kernel-log") for n in range(1, 13)]
    raised = [verdict for verdict in supernoded_judge(make_rule(), lines) if verdict.level is Level.RAISED]
    assert {verdict.subject for verdict in raised} == {NIC}
    assert raised[-1].text == f"{NIC}: the link was seen to go down 6 times (by kernel-log) within 4 s; 3 within 10 min are too many"
    assert raised[-1].severity is Severity.WARNING  # no cable is declared


def test_a_burst_within_one_poll_is_told_with_its_count(supernoded_judge: Judge, make_rule: MakeRule, count: Count) -> None:
    verdict = supernoded_judge(make_rule(), count([0.0, 6.0], port=NIC))[-1]
    assert verdict.text == f"{NIC}: the link went down 6 times (by tool) within one poll; 3 within 10 min are too many"


def test_the_devices_own_records(supernoded_judge: Judge, make_rule: MakeRule, count: Count) -> None:
    """Thirteen in an hour cannot be spread thinner than three in some ten minutes; twelve can."""
    assert supernoded_judge(make_rule(), count([12.0], "link.recent_downs"))[-1].level is Level.CLEAR
    verdict = supernoded_judge(make_rule(), count([13.0], "link.recent_downs"))[-1]
    assert verdict.level is Level.RAISED
    assert "went down 13 times by the device's own records (by tool) within its last hour" in verdict.text
    assert supernoded_judge(make_rule(), count([1.0, 4.0], "link.recent_downs"))[-1].level is Level.RAISED


def test_resets_gaps_and_unknowns_are_no_flaps(supernoded_judge: Judge, make_rule: MakeRule, count: Count, read: Read) -> None:
    assert set(levels(supernoded_judge(make_rule(), count([90.0, 0.0, 2.0])))) == {Level.CLEAR}
    gap = [read(PORT, "link.downed", 0.0), read(PORT, "link.downed", 40.0, 7200.0)]
    assert levels(supernoded_judge(make_rule(), gap))[-1] is Level.CLEAR
    full = [read(PORT, "link.downed", 250.0), read(PORT, "link.downed", None, 5.0, note="saturated, cannot measure")]
    assert levels(supernoded_judge(make_rule(), [*full, read(PORT, "link.downed", 3.0, 10.0)]))[-1] is Level.CLEAR


def test_booting_and_maintenance_count_nothing(supernoded_judge: Judge, make_rule: MakeRule, count: Count, read: Read) -> None:
    boot = [read("n0", "host.uptime", 290.0 + 5.0 * n, 5.0 * n, "host") for n in range(6)]
    verdicts = supernoded_judge(make_rule(), [*boot, *count([0.0, 9.0, 9.0, 9.0, 9.0, 9.0])])
    assert levels(verdicts) == [Level.UNSURE, Level.UNSURE, *[Level.CLEAR] * 4]
    assert set(levels(supernoded_judge(make_rule(PORT), count([0.0, 9.0])))) == {Level.UNSURE}


def test_a_restart_forgets_nothing(make_rule: MakeRule, read: Read) -> None:
    rule = make_rule()
    memory, found = rule.start(), list[Level]()
    for n, total in enumerate([0.0, 1.0, 2.0, 3.0]):
        history = History(rule.watches)
        history.add([read(PORT, "link.downed", total, 5.0 * n)], 60.0)
        memory = msgspec.json.decode(msgspec.json.encode(memory), type=FlappingMemory)
        memory, (verdict,) = rule.judge(history.view(5.0 * n, rule.watches), memory)
        found.append(verdict.level)
    assert found == [Level.CLEAR, Level.CLEAR, Level.CLEAR, Level.RAISED]


def test_silence_is_no_steadiness(supernoded_judge: Judge, make_rule: MakeRule, count: Count, read: Read) -> None:
    assert supernoded_judge(make_rule(), [read(PORT, "link.downed", None, note="N/A")])[-1].level is Level.UNSURE
    silence = [read(PORT, "link.downed", None, at, note="hung") for at in (10.0, 400.0, 900.0)]
    verdicts = supernoded_judge(make_rule(), [*count([0.0, 3.0]), *silence, read(PORT, "link.downed", 3.0, 905.0)])
    assert levels(verdicts) == [Level.CLEAR, Level.RAISED, Level.RAISED, Level.RAISED, Level.UNSURE, Level.CLEAR]


@given(st.lists(st.one_of(st.integers(0, 5), st.sampled_from(["reset", "blind", "gap"])), max_size=120))
def test_a_tale_never_tells_more_than_was(script: list[int | str]) -> None:
    total, true, at, tale = 0, 0, 0.0, Tale()
    for step in script:
        at += 4000.0 if step == "gap" else 5.0
        if isinstance(step, int):
            total, true = total + step, true + step
        elif step == "reset":
            total = 0
        value = None if step == "blind" else float(total)
        reading = Reading(subject=PORT, quantity="link.downed", value=value, unit="1", at=at)
        tale = hear(tale, [reading], 600.0, falls=False)
        assert tale.count(-1.0) <= true
        assert len(tale.downs) <= MOST
