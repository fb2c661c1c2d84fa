"""Links that are down, and links that may be."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from supernoded.history import History
from supernoded.plugin import Level, Reading, Severity, Verdict
from supernoded.testing import Judge
from supernoded_link_ber.health.down import DownRule
from supernoded_link_ber.health.ports import Past, Ports

PORT, PEER, SPARE = "n0/card0/port0", "n0/card1/port1", "n0/nic/mlx5_7"
Read = Callable[..., Reading]
MakePorts = Callable[..., Ports]


def levels(verdicts: list[Verdict], port: str) -> list[Level]:
    return [verdict.level for verdict in verdicts if verdict.subject == port]


def last(verdicts: list[Verdict], port: str) -> Verdict:
    return [verdict for verdict in verdicts if verdict.subject == port][-1]


def test_healthy_fault_and_recovery(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    said = [(1.0, ""), (0.0, "DOWN, Polling"), (None, "no answer"), (1.0, "")]
    verdicts = supernoded_judge(DownRule(make_ports()), [read(SPARE, "link.state", v, 5.0 * n, note=t) for n, (v, t) in enumerate(said)])
    assert levels(verdicts, SPARE) == [Level.CLEAR, Level.RAISED, Level.UNSURE, Level.CLEAR]
    assert verdicts[1].text == f"{SPARE}: the link is down (DOWN, Polling), it was up before"
    assert verdicts[1].severity is Severity.CRITICAL
    assert verdicts[2].unseen == ("link.state: no answer",)


def test_a_link_that_nobody_expects_is_nobodys_trouble(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    verdict = last(supernoded_judge(DownRule(make_ports()), [read(SPARE, "link.state", 0.0, note="DOWN, Disabled")]), SPARE)
    assert verdict.level is Level.CLEAR
    assert "(DOWN, Disabled), it was never seen up and no cable is declared to be in it" in verdict.text


def test_a_declared_link_is_down_on_first_sight(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    """As when the device's last record, hours old, says so."""
    verdict = last(supernoded_judge(DownRule(make_ports()), [read(PORT, "link.state", 0.0, source="records")]), PORT)
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.CRITICAL)
    assert verdict.text == (
        f"{PORT}: the link is down, it was never seen up, but a cable is declared to be in it; its cable goes to {PEER}"
    )


def test_the_words_of_the_physical_state_are_told(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    readings = [read(PORT, "link.state", 0.0), read(PORT, "link.phys_state", "polling")]
    noted = [read(PORT, "link.state", 0.0, note="DOWN, Polling"), readings[1]]
    assert "(DOWN, Polling)," in last(supernoded_judge(DownRule(make_ports()), noted), PORT).text
    assert "the link is down (polling)," in last(supernoded_judge(DownRule(make_ports()), readings), PORT).text


def test_one_source_that_says_up_is_enough_to_wait(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    readings = [read(PORT, "link.state", 1.0, source="kernel"), read(PORT, "link.state", 0.0, source="tool")]
    verdict = last(supernoded_judge(DownRule(make_ports()), readings), PORT)
    assert verdict.level is Level.UNSURE
    assert verdict.text == f"{PORT}: the link is up by kernel and down by tool"


def test_a_slow_source_that_has_not_looked_since_contradicts_nobody(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    slow = [read(PORT, "link.state", 1.0, 0.0, "slow")]
    fast = [read(PORT, "link.state", state, 5.0 * n, "fast") for n, state in enumerate([1.0, 1.0, 0.0, 0.0, 1.0])]
    assert levels(supernoded_judge(DownRule(make_ports()), [*slow, *fast]), PORT) == [
        *[Level.CLEAR] * 2,
        *[Level.RAISED] * 2,
        Level.CLEAR,
    ]
    looked = [*slow, read(PORT, "link.state", 1.0, 15.0, "slow"), *fast]
    assert levels(supernoded_judge(DownRule(make_ports()), looked), PORT)[3] is Level.UNSURE


def test_a_source_that_fell_silent_does_not_hold_it_up(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    readings = [read(PORT, "link.state", 1.0, source="kernel"), read(PORT, "link.state", None, 5.0, "kernel", "hung")]
    verdicts = supernoded_judge(DownRule(make_ports()), [*readings, read(PORT, "link.state", 0.0, 5.0)])
    assert levels(verdicts, PORT) == [Level.CLEAR, Level.RAISED]


@pytest.mark.parametrize(("uptime", "level"), [(20.0, Level.UNSURE), (299.0, Level.UNSURE), (301.0, Level.RAISED)])
def test_a_node_that_boots_has_time_to_train(
    supernoded_judge: Judge, make_ports: MakePorts, read: Read, uptime: float, level: Level
) -> None:
    readings = [read("n0", "host.uptime", uptime, source="host"), read(PORT, "link.state", 0.0, note="polling")]
    verdict = last(supernoded_judge(DownRule(make_ports()), readings), PORT)
    assert verdict.level is level
    if level is Level.UNSURE:
        assert "not judged, n0 was booted" in verdict.unseen[0]


def test_a_link_that_has_trained_since_the_boot_is_judged_at_once(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    boot = [read("n0", "host.uptime", 20.0 + 5.0 * n, 1000.0 + 5.0 * n, "host") for n in range(3)]
    readings = [*boot, *(read(PORT, "link.state", state, 1000.0 + 5.0 * n) for n, state in enumerate([0.0, 1.0, 0.0]))]
    assert levels(supernoded_judge(DownRule(make_ports()), readings), PORT) == [Level.UNSURE, Level.CLEAR, Level.RAISED]
    before = [read(PORT, "link.state", 1.0, 900.0), *boot[:1], read(PORT, "link.state", 0.0, 1000.0)]  # up before the reboot is no excuse
    assert levels(supernoded_judge(DownRule(make_ports()), before), PORT) == [Level.CLEAR, Level.UNSURE]


def test_uptime_goes_on_between_its_readings(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    readings = [read("n0", "host.uptime", 280.0, source="host"), *(read(PORT, "link.state", 0.0, at) for at in (0.0, 15.0, 25.0))]
    assert levels(supernoded_judge(DownRule(make_ports()), readings), PORT) == [Level.UNSURE, Level.UNSURE, Level.RAISED]


@pytest.mark.parametrize("place", [PORT, PEER, "n0/card0", "n0/*", f"cable/{PORT}--{PEER}"])
def test_maintenance_of_it_or_of_what_it_hangs_on(supernoded_judge: Judge, make_ports: MakePorts, read: Read, place: str) -> None:
    readings = [read(PORT, "link.state", 1.0), read(PORT, "link.state", 0.0, 5.0)]
    verdict = last(supernoded_judge(DownRule(make_ports(place)), readings), PORT)
    assert verdict.level is Level.UNSURE
    assert "under maintenance" in verdict.text


def test_it_settles_after_maintenance(make_ports: MakePorts, read: Read) -> None:
    """The settings are another life's: memory carries over."""
    working, after = DownRule(make_ports(PORT)), DownRule(make_ports())
    history, memory, found = History(working.watches), working.start(), list[Level]()
    for at, rule in ((1000.0, working), (1005.0, after), (1200.0, after), (1350.0, after)):
        history.add([read(PORT, "link.state", 0.0, at)], 60.0)
        memory = msgspec.json.decode(msgspec.json.encode(memory), type=Past)
        memory, verdicts = rule.judge(history.view(at, rule.watches), memory)
        found.append(last(list(verdicts), PORT).level)
    assert found == [Level.UNSURE, Level.UNSURE, Level.UNSURE, Level.RAISED]


def test_what_an_administrator_switches_off_is_no_fault(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    readings = [read(PORT, "link.state", 1.0), read(PEER, "link.state", 1.0)]
    readings += [read(PORT, "link.state", 0.0, 5.0), read(PORT, "link.enabled", 0.0, 5.0), read(PEER, "link.state", 0.0, 5.0)]
    verdicts = supernoded_judge(DownRule(make_ports()), readings)
    assert last(verdicts, PORT).text == f"{PORT}: the link is down, it was switched off"
    assert last(verdicts, PEER).text == f"{PEER}: the link is down, {PORT} at its other end was switched off"
    assert {last(verdicts, port).level for port in (PORT, PEER)} == {Level.CLEAR}


def test_a_declared_port_that_is_off_from_the_first_is_told_mildly(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    verdict = last(supernoded_judge(DownRule(make_ports()), [read(PORT, "link.state", 0.0), read(PORT, "link.enabled", 0.0)]), PORT)
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.WARNING)
    assert "it is switched off, but a cable is declared to be in it" in verdict.text


def test_a_device_that_keeps_records_knows_that_it_was_up(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    """The last record is a down of many hours ago; its clock is its own."""
    records = [read("n0/card2/port0", "link.state", 0.0), read("n0/card2/port0", "link.downed", 1.0)]
    kept = [*records, read("n0/card2/port0", "link.recent_downs", 0.0)]
    verdict = last(supernoded_judge(DownRule(make_ports()), kept), "n0/card2/port0")
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.WARNING)
    assert verdict.text == "n0/card2/port0: the link is down, by its own records it was up before and went down 1 times"
    assert last(supernoded_judge(DownRule(make_ports()), records), "n0/card2/port0").level is Level.CLEAR  # a counter alone may be old


def test_lanes_are_no_links(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    assert supernoded_judge(DownRule(make_ports()), [read(f"{PORT}/lane2", "link.state", 0.0)]) == []


def test_memory_stays_the_same_object_while_nothing_changes(make_ports: MakePorts, read: Read) -> None:
    rule = DownRule(make_ports())
    history, memory = History(rule.watches), rule.start()
    for at in (100.0, 105.0):
        history.add([read(PORT, "link.state", 1.0, at)], 60.0)
        before, (memory, _) = memory, rule.judge(history.view(at, rule.watches), memory)
    assert memory.seen_up is before.seen_up  # so that it is not written at every poll


def test_a_port_not_read_for_a_week_is_forgotten(make_ports: MakePorts) -> None:
    rule = DownRule(make_ports())
    memory, _ = rule.judge(History(rule.watches).view(8 * 86_400.0, rule.watches), Past(seen_up={SPARE: 0.0}, worked={SPARE: 0.0}))
    assert memory == Past()
