"""Modules within and without their own limits."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from supernoded.plugin import Level, Reading, Severity, Verdict
from supernoded.testing import Judge
from supernoded_link_ber.health.optic import OpticRule
from supernoded_link_ber.health.ports import Ports

PORT, SPARE = "n0/card0/port0", "n0/nic/mlx5_7"
Read = Callable[..., Reading]
Module = Callable[..., list[Reading]]


@pytest.fixture
def rule(make_ports: Callable[..., Ports]) -> OpticRule:
    return OpticRule(make_ports())


@pytest.fixture
def module(read: Read) -> Module:
    """A module's page, with some of it replaced."""

    def make(at: float = 0.0, port: str = PORT, **changes: float) -> list[Reading]:
        values = {"rx_power": 0.8, "rx_power.low": 0.15, "rx_power.high": 3.5, "tx_power": 1.0, "tx_power.low": 0.2, "tx_power.high": 3.5}
        values |= {"bias": 60.0, "bias.low": 10.0, "bias.high": 130.0, "temperature": 45.0, "temperature.low": 0.0}
        values |= {"temperature.high": 75.0, "voltage": 3.3, "voltage.low": 3.1, "voltage.high": 3.5, "present": 1.0}
        named = {name.replace("__", "."): value for name, value in changes.items()}
        return [read(port, f"link.{name}", value, at) for name, value in (values | named).items()]

    return make


def last(verdicts: list[Verdict]) -> Verdict:
    return verdicts[-1]


def test_a_module_that_is_well(supernoded_judge: Judge, rule: OpticRule, module: Module) -> None:
    (verdict,) = supernoded_judge(rule, module())
    assert (verdict.level, verdict.text) == (Level.CLEAR, f"{PORT}: its module is within its own limits")


@pytest.mark.parametrize(
    ("name", "near", "bad", "text"),
    [
        ("rx_power", 0.151, 0.149, "it receives 0.149 mW, less than the 0.15 mW that the module sets as its limit"),
        ("tx_power", 3.49, 4.4, "it sends 4.4 mW, more than the 3.5 mW that the module sets as its limit"),
        ("bias", 129.0, 131.0, "it draws 131 mA, more than the 130 mA that the module sets as its limit"),
        ("temperature", 74.9, 75.5, "it is at 75.5 C, more than the 75 C that the module sets as its limit"),
        ("voltage", 3.105, 3.05, "it has 3.05 V, less than the 3.1 V that the module sets as its limit"),
    ],
)
def test_each_limit(supernoded_judge: Judge, rule: OpticRule, module: Module, name: str, near: float, bad: float, text: str) -> None:
    readings = [*module(0.0, **{name: near}), *module(10.0, **{name: bad}), *module(20.0, **{name: near}), *module(30.0)]
    verdicts = supernoded_judge(rule, readings)
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.RAISED, Level.RAISED, Level.CLEAR]  # near is not back yet
    assert verdicts[1].text == f"{PORT}: {text}"
    assert verdicts[1].severity is Severity.WARNING


def test_a_lane_is_named(supernoded_judge: Judge, rule: OpticRule, module: Module, read: Read) -> None:
    lanes = [read(f"{PORT}/lane{lane}", "link.rx_power", value) for lane, value in enumerate([0.8, 0.0054, 0.7, 0.8])]
    verdict = last(supernoded_judge(rule, [*module(rx_power=0.0054), *lanes]))
    assert verdict.subject == PORT
    assert verdict.text == f"{PORT}: lane 1 receives 0.0054 mW, less than the 0.15 mW that the module sets as its limit"


def test_loss_of_signal_by_lane(supernoded_judge: Judge, rule: OpticRule, module: Module, read: Read) -> None:
    flags = [read(PORT, "link.los", frozenset({"rx-los"})), read(f"{PORT}/lane2", "link.los", frozenset({"rx-los", "rx-lol"}))]
    assert last(supernoded_judge(rule, [*module(), *flags])).text == f"{PORT}: lane 2 reports rx-lol, rx-los"
    many = [read(f"{PORT}/lane{lane}", "link.los", frozenset({"rx-los"} if lane else ())) for lane in range(4)]
    assert last(supernoded_judge(rule, [*module(), *many])).text == f"{PORT}: lanes 1, 2, 3 report rx-los"
    assert last(supernoded_judge(rule, [*module(), flags[0]])).text == f"{PORT}: it reports rx-los"
    assert last(supernoded_judge(rule, [*module(), read(PORT, "link.los", frozenset())])).level is Level.CLEAR


def test_no_module(supernoded_judge: Judge, rule: OpticRule, read: Read) -> None:
    verdict = last(supernoded_judge(rule, [read(PORT, "link.present", 0.0)]))
    assert (verdict.level, verdict.text) == (Level.RAISED, f"{PORT}: no module is in the cage")
    back = [read(PORT, "link.present", 0.0), read(PORT, "link.present", 1.0, 5.0), read(PORT, "link.rx_power", 0.8, 5.0)]
    assert last(supernoded_judge(rule, back)).level is Level.CLEAR


def test_not_present_yet_alive_is_judged_by_what_it_measures(supernoded_judge: Judge, rule: OpticRule, module: Module) -> None:
    verdict = last(supernoded_judge(rule, module(present=0.0, rx_power=0.0054)))
    assert verdict.level is Level.RAISED
    assert "it receives 0.0054 mW" in verdict.text


def test_a_port_that_nobody_uses_may_be_dark(supernoded_judge: Judge, rule: OpticRule, module: Module, read: Read) -> None:
    verdict = last(supernoded_judge(rule, [read(SPARE, "link.state", 0.0), *module(port=SPARE, rx_power=0.0)]))
    assert verdict.level is Level.UNSURE
    assert "never seen up" in verdict.unseen[0]
    used = [read(SPARE, "link.state", 1.0), read(SPARE, "link.state", 0.0, 5.0), *module(5.0, port=SPARE, rx_power=0.0, tx_power=0.1)]
    verdict = last(supernoded_judge(rule, used))
    assert verdict.level is Level.RAISED
    assert "it sends 0.1 mW" in verdict.text
    assert "receives" not in verdict.text  # that no light comes in over a link that is down is the link's trouble
    off = [*used, read(SPARE, "link.enabled", 0.0, 5.0)]
    assert last(supernoded_judge(rule, off)).level is Level.UNSURE


def test_limits_that_are_none_judge_nothing(supernoded_judge: Judge, rule: OpticRule, module: Module, read: Read) -> None:
    assert last(supernoded_judge(rule, module(rx_power=0.01, rx_power__low=0.0, rx_power__high=0.0))).level is Level.CLEAR
    assert last(supernoded_judge(rule, [read(PORT, "link.rx_power", 0.01)])).level is Level.CLEAR


def test_what_cannot_be_read_is_unsure(supernoded_judge: Judge, rule: OpticRule, module: Module, read: Read) -> None:
    verdict = last(supernoded_judge(rule, [read(PORT, "link.present", None, note="the tool hung")]))
    assert (verdict.level, verdict.unseen) == (Level.UNSURE, ("link.present: the tool hung",))
    blind = [read(PORT, f"link.{name}", None, 10.0, note="hung") for name in ("rx_power", "tx_power", "bias", "temperature", "voltage")]
    verdicts = supernoded_judge(rule, [*module(rx_power=0.01), *blind, read(PORT, "link.present", None, 10.0, note="hung")])
    assert [verdict.level for verdict in verdicts] == [Level.RAISED, Level.UNSURE]
    after = module(20.0, rx_power=0.151)
    assert last(supernoded_judge(rule, [*module(rx_power=0.01), *blind, *after])).level is Level.RAISED  # it was remembered


@pytest.mark.parametrize("quantity", ["link.state", "link.enabled"])
def test_light_read_before_the_news_that_the_link_is_off_waits_for_them(
    supernoded_judge: Judge, rule: OpticRule, module: Module, read: Read, quantity: str
) -> None:
    up = [read(PORT, "link.state", 1.0), read(PORT, "link.enabled", 1.0), *module()]
    newer = {"link.state": 1.0, "link.enabled": 1.0}
    newer.pop(quantity)
    dark = [*module(8.0, rx_power=0.0, tx_power=0.0), *(read(PORT, name, value, 9.0) for name, value in newer.items())]
    verdict = last(supernoded_judge(rule, [*up, *dark]))
    assert (verdict.level, verdict.unseen[0].startswith("not yet judged")) == (Level.UNSURE, True)
    told = [read(PORT, quantity, 1.0, 10.0)]
    assert last(supernoded_judge(rule, [*up, *dark, *told])).level is Level.RAISED
    told = [read(PORT, quantity, 0.0, 10.0)]
    told += [read(PORT, "link.enabled", 0.0, 10.0)] if quantity == "link.state" else []
    assert last(supernoded_judge(rule, [*up, *dark, *told])).level is Level.UNSURE


def test_whoever_looked_last_says_whether_it_is_switched_off(supernoded_judge: Judge, rule: OpticRule, module: Module, read: Read) -> None:
    slow = msgspec.structs.replace(read(PORT, "link.enabled", 1.0), source="slow")
    off = [read(PORT, "link.state", 1.0), slow, *module(), read(PORT, "link.state", 0.0, 5.0), read(PORT, "link.enabled", 0.0, 5.0)]
    assert last(supernoded_judge(rule, [*off, *module(5.0, tx_power=0.0)])).level is Level.UNSURE
