"""Speed, FEC, probes, NICs and monitors: what is set up wrongly, without a cable to touch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from supernoded.plugin import Level, Reading
from supernoded.testing import Judge
from supernoded_link_ber.health.devices import DegradedRule, MonitorRule
from supernoded_link_ber.health.fec import FecRule
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.probe import ProbeRule
from supernoded_link_ber.health.speed import SpeedRule
from supernoded_link_ber.settings import LinkBerSettings
from tests.plugins.link_ber.ber.lives import make_gallery

PORT, OUT, NIC = "n0/card0/port0", "n0/card3/port0", "n0/nic/mlx5_0"
Read = Callable[..., Reading]
MakePorts = Callable[..., Ports]


@pytest.mark.parametrize(("speed", "level"), [(200.0, Level.CLEAR), (199.0, Level.CLEAR), (400.0, Level.CLEAR), (100.0, Level.RAISED)])
@pytest.mark.parametrize("port", [PORT, OUT])
def test_a_cabled_link_has_its_speed(
    supernoded_judge: Judge, make_ports: MakePorts, read: Read, port: str, speed: float, level: Level
) -> None:
    verdicts = supernoded_judge(SpeedRule(make_ports()), [read(port, "link.speed", speed), read(port, "link.speed", 200.0, 5.0)])
    assert [verdict.level for verdict in verdicts] == [level, Level.CLEAR]
    assert verdicts[0].text == f"{port}: the link runs at {speed:g} Gb/s (by tool), 200 Gb/s are declared"


def test_an_undeclared_link_has_any_speed(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    assert supernoded_judge(SpeedRule(make_ports()), [read(NIC, "link.speed", 10.0)]) == []
    declared = make_ports(settings=LinkBerSettings(expected_gbps={"n0/nic/*": 400.0}))
    assert supernoded_judge(SpeedRule(declared), [read(NIC, "link.speed", 200.0)])[0].level is Level.RAISED


def test_a_speed_that_is_not_known(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    down = [read(PORT, "link.state", 0.0), read(PORT, "link.speed", 10.0)]
    assert supernoded_judge(SpeedRule(make_ports()), down)[0].level is Level.UNSURE
    assert supernoded_judge(SpeedRule(make_ports()), [read(PORT, "link.speed", None, note="x")])[0].level is Level.UNSURE
    assert supernoded_judge(SpeedRule(make_ports(PORT)), [read(PORT, "link.speed", 10.0)])[0].level is Level.UNSURE


@pytest.mark.parametrize(
    ("port", "fec", "speed", "width", "level"),
    [
        (NIC, "rs-fec (544,514)", 200.0, 4.0, Level.CLEAR),
        (NIC, "none", 200.0, 4.0, Level.RAISED),
        (NIC, "none", 100.0, 4.0, Level.CLEAR),  # near miss: four lanes of 25 Gb/s may go without
        (NIC, "none", 100.0, None, Level.RAISED),
        (NIC, "none", 25.0, None, Level.CLEAR),
        (NIC, "none", None, None, Level.UNSURE),
        (PORT, "no fec mode", None, None, Level.RAISED),  # its speed is declared
        ("n0/card2/port0", "no fec mode", None, None, Level.RAISED),  # what a card's port is made for
        (NIC, None, 200.0, 4.0, Level.UNSURE),
    ],
)
def test_fec(
    supernoded_judge: Judge,
    make_ports: MakePorts,
    read: Read,
    port: str,
    fec: str | None,
    speed: float | None,
    width: float | None,
    level: Level,
) -> None:
    readings = [read(port, "link.fec", fec), read(port, "link.speed", speed), read(port, "link.width", width)]
    (verdict,) = supernoded_judge(FecRule(make_ports()), readings)
    assert verdict.level is level
    assert ("switch it on at both ends, no cable has to be touched" in verdict.text) is (level is Level.RAISED)


def test_fec_recovers(supernoded_judge: Judge, make_ports: MakePorts, read: Read) -> None:
    readings = [read(PORT, "link.fec", "none"), read(PORT, "link.fec", "rs-fec", 60.0)]
    assert [verdict.level for verdict in supernoded_judge(FecRule(make_ports()), readings)] == [Level.RAISED, Level.CLEAR]


def levels_of_probe(judge: Judge, read: Read, *words: str | None, state: float = 1.0) -> list[Level]:
    readings = [read(PORT, "link.probe", word, 30.0 * n) for n, word in enumerate(words)]
    states = [read(PORT, "link.state", state, 30.0 * n, "kernel") for n in range(len(words))]
    return [verdict.level for verdict in judge(ProbeRule(make_gallery()), [*readings, *states])]


def test_probe(supernoded_judge: Judge, read: Read) -> None:
    assert levels_of_probe(supernoded_judge, read, "success") == [Level.CLEAR]
    bad = levels_of_probe(supernoded_judge, read, "unreachable", "time-out", "success")
    assert bad == [Level.UNSURE, Level.RAISED, Level.CLEAR]
    assert levels_of_probe(supernoded_judge, read, "fault", "success", "fault") == [Level.UNSURE, Level.CLEAR, Level.UNSURE]


def test_a_probe_that_fails_says_nothing_of_the_link(supernoded_judge: Judge, read: Read) -> None:
    assert set(levels_of_probe(supernoded_judge, read, *["failed"] * 5)) == {Level.UNSURE}
    assert set(levels_of_probe(supernoded_judge, read, "starting", None)) == {Level.UNSURE}
    assert set(levels_of_probe(supernoded_judge, read, "fault", "fault", "fault", state=0.0)) == {Level.UNSURE}


def test_a_probe_asked_again_without_news_is_one_answer(supernoded_judge: Judge, read: Read) -> None:
    readings = [read(PORT, "link.probe", "fault"), *(read(PORT, "link.state", 1.0, 5.0 * n, "kernel") for n in range(5))]
    assert {verdict.level for verdict in supernoded_judge(ProbeRule(make_gallery()), readings)} == {Level.UNSURE}


def test_a_degraded_nic(supernoded_judge: Judge, read: Read) -> None:
    rule = DegradedRule(lambda subject: subject == "n0/nic/mlx5_1")
    readings = [read(NIC, "nic.health", frozenset(flags), at) for at, flags in ((0.0, ()), (5.0, ("slot-power",)), (10.0, ()))]
    verdicts = supernoded_judge(rule, readings)
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.RAISED, Level.CLEAR]
    assert verdicts[1].text.startswith(f"{NIC}: works degraded, it reports slot-power: its slot gives too little power")
    assert supernoded_judge(rule, [read(NIC, "nic.health", None, note="x")])[0].level is Level.UNSURE
    assert supernoded_judge(rule, [read("n0/nic/mlx5_1", "nic.health", frozenset({"pcie"}))])[0].level is Level.UNSURE
    assert "it reports odd-word" in supernoded_judge(rule, [read(NIC, "nic.health", frozenset({"odd-word"}))])[0].text


def test_a_monitor_that_is_off(supernoded_judge: Judge, read: Read) -> None:
    rule = MonitorRule(lambda subject: subject == "n1")
    readings = [read("n0", "bmc.link_monitor", value, float(at)) for at, value in enumerate([1.0, 0.0, None, 1.0])]
    verdicts = supernoded_judge(rule, readings)
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.RAISED, Level.UNSURE, Level.CLEAR]
    assert verdicts[1].text == "n0: the link monitor of its BMC is off, it has to be switched on at each node (L4)"
    assert supernoded_judge(rule, [read("n1", "bmc.link_monitor", 0.0)])[0].level is Level.UNSURE
