"""Single outlets: state and watts, and locks that are respected."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import msgspec
import pytest

from sim_hardware.bus import LineFaults
from sim_hardware.plant.power.orders import LockOutlet, PressEmergencyOff, SwitchOutlet
from sim_hardware.rack import Rack
from supernoded.model import Effect
from supernoded.plugin import WireError
from supernoded_modbus.pdu import Outlet
from supernoded_modbus.switching import judge_off, judge_on
from tests.plugins.modbus.benches import Bench, open_bench, run

OUTLET = "pdu/A1/outlet1"


async def perform(bench: Bench, kind: str, target: str = OUTLET) -> Effect:
    action, actuator = bench.act(kind, target), bench.actuator(kind)
    assert (await actuator.observe(action)).effect is Effect.ABSENT
    await actuator.apply(action)
    return (await actuator.observe(action)).effect


@pytest.mark.parametrize("family", ["power", "outlet"])
def test_an_outlet_goes_off_and_on(tmp_path: Path, family: str) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            assert await perform(bench, f"{family}.off") is Effect.PRESENT
            assert bench.truth(OUTLET, "outlet.state") == "off"
            assert await perform(bench, f"{family}.on") is Effect.PRESENT
            assert bench.truth(OUTLET, "outlet.state") == "on"

    run(story)


@pytest.mark.parametrize(("kind", "before"), [("power.on", "off"), ("outlet.on", "off"), ("power.off", "on"), ("outlet.off", "on")])
def test_a_locked_outlet_stays_as_it_is(tmp_path: Path, kind: str, before: str) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.world.order(SwitchOutlet(pdu="pdu/A1", outlet=1, on=before == "on"))
            bench.world.order(LockOutlet(pdu="pdu/A1", outlet=1, locked=True))
            with pytest.raises(WireError, match="pdu/A1/outlet1 is locked out"):
                await perform(bench, kind)
            assert bench.truth(OUTLET, "outlet.state") == before

    run(story)


def test_an_outlet_that_the_map_does_not_count_is_not_told(tmp_path: Path) -> None:
    def count_from_none(rack: Rack) -> Rack:
        first, replace = rack.pdus[0], msgspec.structs.replace
        return replace(rack, pdus=(replace(first, outlets=(replace(first.outlets[0], number=0), *first.outlets[1:])), *rack.pdus[1:]))

    async def story() -> None:
        async with open_bench(tmp_path, change=count_from_none) as bench:
            action, actuator = bench.act("power.off", "pdu/A1/outlet0"), bench.actuator("power.off")
            assert (await actuator.observe(action)).effect is Effect.UNKNOWN
            with pytest.raises(WireError, match="its register map has no"):
                await actuator.apply(action)

    run(story)


def test_the_emergency_button_wins(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.world.order(PressEmergencyOff(feed="A", pressed=True))
            await asyncio.sleep(0.1)
            with pytest.raises(WireError):
                await perform(bench, "power.on")

    run(story)


def test_on_a_poor_line_nothing_is_called_done_that_is_not(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.feed.faults = LineFaults(drop_frames=0.25, flip=0.003, duplicate=0.3, late_s=0.15, late_share=0.2)
            seen, wrong = 0, 0
            for turn in range(60):
                kind = "power.off" if turn % 2 else "power.on"
                action, actuator = bench.act(kind, OUTLET), bench.actuator(kind)
                try:
                    await actuator.apply(action)
                    effect = (await actuator.observe(action)).effect
                except WireError:
                    continue
                if effect is Effect.PRESENT:
                    seen += 1
                    wrong += bench.truth(OUTLET, "outlet.state") != kind.removeprefix("power.")
            assert seen > 10
            assert wrong == 0

    run(story)


@pytest.mark.parametrize(
    ("outlet", "off", "on"),
    [
        (Outlet(on=False, watts=0.0), Effect.PRESENT, Effect.ABSENT),
        (Outlet(on=False, watts=300.0), Effect.UNKNOWN, Effect.ABSENT),
        (Outlet(on=False, watts=math.nan), Effect.UNKNOWN, Effect.ABSENT),
        (Outlet(on=True, watts=300.0), Effect.ABSENT, Effect.PRESENT),
        (Outlet(on=True, watts=0.0), Effect.ABSENT, Effect.UNKNOWN),
        (Outlet(on=True, watts=math.nan), Effect.ABSENT, Effect.UNKNOWN),
    ],
)
def test_state_and_watts_together(outlet: Outlet, off: Effect, on: Effect) -> None:
    assert judge_off(outlet).effect is off
    assert judge_on(outlet).effect is on
