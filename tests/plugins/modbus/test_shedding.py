"""Shed and restore over the real plant: what the PDU's own record and the meters show, whatever was answered."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from sim_hardware.plant.power.orders import DisarmShed, FireShed, LockOutlet, SwitchOutlet
from supernoded.model import Effect
from supernoded.plugin import NotHeldError, WireError
from supernoded_modbus.pdu import Outlet, Record
from supernoded_modbus.shedding import judge_restore, judge_shed
from supernoded_modbus.site import find_site
from supernoded_modbus.unit import Key
from supernoded_modbus.values import Told
from tests.plugins.modbus.benches import FEED, arm, do, look, open_bench, run, state

SHED, RESTORE = "power.shed", "power.restore"


def test_one_armed_pdu_is_fired_by_its_own_number(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1")
            assert await look(bench, SHED, "pdu/A1") is Effect.ABSENT
            await do(bench, SHED, "pdu/A1")
            assert bench.feed.record.counts["broadcasts"] == 0
            assert await look(bench, SHED, "pdu/A1") is Effect.PRESENT
            assert state(bench, "A1/outlet2") == "off"
            assert state(bench, "A2/outlet2") == "on"

    run(story)


def test_what_is_not_armed_is_not_fired(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            with pytest.raises(WireError, match="not armed as the topology says"):
                await do(bench, SHED, "pdu/A1")
            assert state(bench, "A1/outlet2") == "on"

    run(story)


def test_without_the_pen_nothing_is_fired(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1", "A2")
            bench.wires.refusals[FEED] = "another has it"
            with pytest.raises(NotHeldError):
                await do(bench, SHED, "pdu/A1")
            assert state(bench, "A1/outlet2") == "on"

    run(story)


def test_what_the_pdu_did_by_itself_is_not_done_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1")
            bench.world.order(FireShed(pdu="pdu/A1"))
            await asyncio.sleep(12.0)  # it has restored by itself, too
            assert await look(bench, SHED, "pdu/A1") is Effect.PRESENT
            await do(bench, SHED, "pdu/A1")
            assert bench.truth("pdu/A1", "pdu.event_count") == 3.0
            await asyncio.sleep(30.0)
            assert await look(bench, SHED, "pdu/A1") is Effect.ABSENT  # that firing was of an earlier trouble

    run(story)


def test_a_firing_from_before_its_clock_began_anew_is_of_no_trouble_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1")
            await asyncio.sleep(100.0)
            bench.world.order(FireShed(pdu="pdu/A1"))
            await asyncio.sleep(15.0)
            pdu = next(find_site(bench.settings, bench.node).list_pdus())
            read = pdu.unit.read

            async def read_as_restarted(keys: Iterable[Key], *, urgent: bool = False) -> Mapping[Key, Told]:
                return {key: Told(3.0) if key == ("clock", -1) else told for key, told in (await read(keys, urgent=urgent)).items()}

            monkeypatch.setattr(pdu.unit, "read", read_as_restarted)
            assert await look(bench, SHED, "pdu/A1") is Effect.ABSENT

    run(story)


def test_the_moment_of_no_event_is_no_firing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            pdu = next(find_site(bench.settings, bench.node).list_pdus())
            read = pdu.unit.read

            async def read_as_just_started(keys: Iterable[Key], *, urgent: bool = False) -> Mapping[Key, Told]:
                zero = {("event_at", -1): Told(0.0), ("clock", -1): Told(5.0)}  # it has started 5 s ago, and shows 0 for never
                return {key: zero.get(key, told) for key, told in (await read(keys, urgent=urgent)).items()}

            monkeypatch.setattr(pdu.unit, "read", read_as_just_started)
            assert await look(bench, SHED, "pdu/A1") is Effect.ABSENT

    run(story)


def test_only_what_the_firing_opened_is_closed_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.world.order(SwitchOutlet(pdu="pdu/A1", outlet=4, on=False))
            await arm(bench, "A1")
            await do(bench, SHED, "pdu/A1")
            assert await look(bench, RESTORE, "pdu/A1") is Effect.ABSENT
            await do(bench, RESTORE, "pdu/A1")
            assert await look(bench, RESTORE, "pdu/A1") is Effect.PRESENT
            assert state(bench, "A1/outlet2") == "on"
            assert state(bench, "A1/outlet4") == "off"

    run(story)


def test_what_was_locked_meanwhile_stays_off(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1")
            await do(bench, SHED, "pdu/A1")
            bench.world.order(LockOutlet(pdu="pdu/A1", outlet=2, locked=True))
            await do(bench, RESTORE, "pdu/A1")
            assert state(bench, "A1/outlet2") == "off"
            assert await look(bench, RESTORE, "pdu/A1") is Effect.PRESENT

    run(story)


def test_what_an_operator_switched_off_after_the_shed_stays_off(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1")
            await do(bench, SHED, "pdu/A1")
            await asyncio.sleep(12.0)
            bench.world.order(SwitchOutlet(pdu="pdu/A1", outlet=2, on=False))
            await do(bench, RESTORE, "pdu/A1")
            assert state(bench, "A1/outlet2") == "off"

    run(story)


def test_a_pdu_that_never_fired_has_nothing_to_restore(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.world.order(SwitchOutlet(pdu="pdu/A1", outlet=2, on=False))
            await asyncio.sleep(0.1)
            await do(bench, RESTORE, "pdu/A1")
            assert state(bench, "A1/outlet2") == "off"
            await arm(bench, "A1")
            bench.world.order(DisarmShed(pdu="pdu/A1"))
            assert await look(bench, RESTORE, "pdu/A1") is Effect.PRESENT

    run(story)


@pytest.mark.parametrize(
    ("event", "fired_at", "outlets", "effect"),
    [
        ("fired", 95.0, {"2": Outlet(on=False, watts=0.0)}, Effect.PRESENT),
        ("fired", 95.0, {"2": Outlet(on=True, watts=0.0)}, Effect.UNKNOWN),
        ("fired", 95.0, {"2": Outlet(on=False, watts=400.0)}, Effect.UNKNOWN),
        ("fired", 95.0, {"2": Outlet(on=False, watts=math.nan)}, Effect.UNKNOWN),
        ("restored", 95.0, {}, Effect.PRESENT),
        ("fired", 60.0, {"2": Outlet(on=False, watts=0.0)}, Effect.ABSENT),
        ("armed", math.nan, {}, Effect.ABSENT),
    ],
)
def test_a_shed_is_judged_by_record_state_and_watts(event: str, fired_at: float, outlets: dict[str, Outlet], effect: Effect) -> None:
    record = Record(event, 2.0, fired_at, frozenset({"2"}))
    assert judge_shed(record, outlets, issued=100.0).effect is effect


@pytest.mark.parametrize(
    ("outlets", "locked", "effect"),
    [
        ({"2": Outlet(on=True, watts=400.0)}, frozenset(), Effect.PRESENT),
        ({"2": Outlet(on=True, watts=0.0)}, frozenset(), Effect.UNKNOWN),
        ({"2": Outlet(on=True, watts=math.nan)}, frozenset(), Effect.UNKNOWN),
        ({"2": Outlet(on=False, watts=0.0)}, frozenset(), Effect.ABSENT),
        ({"2": Outlet(on=False, watts=0.0)}, frozenset({"2"}), Effect.PRESENT),
    ],
)
def test_a_restore_is_judged_by_state_lock_and_watts(outlets: dict[str, Outlet], locked: frozenset[str], effect: Effect) -> None:
    assert judge_restore(Record("fired", 2.0, 95.0, frozenset({"2"})), outlets, locked).effect is effect


def test_the_devices_own_delay_is_told() -> None:
    sight = judge_shed(Record("restored", 2.0, 95.0, frozenset({"2", "3"}), 2.5), {}, 100.0)
    assert sight.text == "it fired and opened 2 outlets, 2.5 ms after its trigger by its own clock; its newest event is 'restored'"
    assert judge_shed(Record("restored", 2.0, 95.0, frozenset({"2"})), {}, 100.0).text.startswith(
        "it fired and opened 1 outlet; its newest"
    )
