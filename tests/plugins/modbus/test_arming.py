"""Arming: a lease over what PDU and topology agree on, read back, and handed back."""

from __future__ import annotations

import asyncio
import math
from functools import partial
from importlib import resources
from pathlib import Path

import msgspec
import pytest

from sim_hardware.bus import LineFaults
from sim_hardware.plant.power.orders import ArmShed
from sim_hardware.rack import Rack
from supernoded.model import Effect, Setpoint
from supernoded.plugin import NotHeldError, WireError
from supernoded_modbus.pdu import Armed, ShedPdu
from supernoded_modbus.settings import ModbusSettings
from supernoded_modbus.site import find_site
from tests.plugins.modbus.benches import FEED, Bench, open_bench, run

TARGET = "pdu/A1/shed"


def lease(seconds: float = 120.0) -> Setpoint:
    return Setpoint(target=TARGET, quantity="pdu.lease_left", value=seconds, unit="s")


async def put(bench: Bench, seconds: float = 120.0) -> None:
    await bench.handles[TARGET].put(lease(seconds), FEED)


def test_it_is_armed_for_the_lease_and_runs_out_by_itself(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            handle = bench.handles[TARGET]
            now_at = await handle.now_at()
            assert now_at is not None
            assert now_at.value == 0.0
            await put(bench)
            assert bench.truth("pdu/A1", "pdu.armed") == 1.0
            assert bench.truth("pdu/A1", "pdu.group") == frozenset({"2"})
            assert bench.truth("pdu/A1", "pdu.restore_s") == pytest.approx(10.0)
            await asyncio.sleep(60.0)
            now_at = await handle.now_at()
            assert now_at is not None
            assert now_at.value == pytest.approx(60.0, abs=0.5)
            await put(bench)
            assert bench.truth("pdu/A1", "pdu.lease_left") == pytest.approx(120.0, abs=0.5)
            await asyncio.sleep(121.0)
            assert bench.truth("pdu/A1", "pdu.armed") == 0.0

    run(story)


def test_it_is_handed_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            handle = bench.handles[TARGET]
            said = bench.feed.record.counts["frames"]
            assert (await handle.hand_back(FEED)).effect is Effect.PRESENT  # it was not armed: nothing is written
            assert bench.feed.record.counts["frames"] > said
            await put(bench)
            assert (await handle.hand_back(FEED)).effect is Effect.PRESENT
            assert bench.truth("pdu/A1", "pdu.armed") == 0.0

    run(story)


def test_another_membership_is_refused_with_both_lists(tmp_path: Path) -> None:
    def widen(rack: Rack) -> Rack:
        first, replace = rack.pdus[0], msgspec.structs.replace
        outlets = tuple(replace(one, load="n0/fan*", sheddable=True) if one.number == 4 else one for one in first.outlets)
        return replace(rack, pdus=(replace(first, outlets=outlets), *rack.pdus[1:]))

    async def story() -> None:
        async with open_bench(tmp_path, change=widen) as bench:
            with pytest.raises(WireError, match="it lets outlets 2 be shed, the topology outlets 2, 4"):
                await put(bench)
            assert bench.truth("pdu/A1", "pdu.armed") == 0.0

    run(story)


def test_a_pdu_that_lets_more_be_shed_than_the_topology_says_is_not_armed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def look_wider(_: ShedPdu) -> frozenset[str]:
        return frozenset({"2", "4"})

    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            monkeypatch.setattr(ShedPdu, "look_sheddable", look_wider)
            with pytest.raises(WireError, match="it lets outlets 2, 4 be shed, the topology outlets 2"):
                await put(bench)
            assert bench.truth("pdu/A1", "pdu.armed") == 0.0

    run(story)


@pytest.mark.parametrize(
    "shown",
    [
        Armed(armed=False, group=frozenset(), restore_s=10.0, lease_left=0.0),
        Armed(armed=True, group=frozenset({"2", "4"}), restore_s=10.0, lease_left=120.0),
        Armed(armed=True, group=frozenset({"2"}), restore_s=5.0, lease_left=120.0),
        Armed(armed=True, group=frozenset({"2"}), restore_s=10.0, lease_left=60.0),
        Armed(armed=True, group=frozenset({"2"}), restore_s=10.0, lease_left=math.nan),
    ],
)
def test_arming_is_believed_by_what_the_pdu_then_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Armed) -> None:
    real, looks = ShedPdu.look_armed, list[int]()

    async def look(pdu: ShedPdu) -> Armed:
        looks.append(1)
        return await real(pdu) if len(looks) == 1 else shown

    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            monkeypatch.setattr(ShedPdu, "look_armed", look)
            with pytest.raises(WireError, match="pdu/A1 was armed and shows"):
                await put(bench)

    run(story)


def test_handing_back_is_believed_by_what_the_pdu_then_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def forget(*_: object) -> None:
        await asyncio.sleep(0.0)

    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await put(bench)
            monkeypatch.setattr(ShedPdu, "disarm", forget)
            sight = await bench.handles[TARGET].hand_back(FEED)
            assert (sight.effect, "it is still armed" in sight.text) == (Effect.ABSENT, True)

    run(story)


def test_arming_never_wears_out_an_eeprom(tmp_path: Path) -> None:
    def read_by_another_map(rack: Rack) -> Rack:
        first = msgspec.structs.replace(rack.pdus[0], wire=f"{rack.pdus[0].wire}&map=worn")
        return msgspec.structs.replace(rack, pdus=(first, *rack.pdus[1:]))

    async def story(row: str) -> None:
        worn = ours.replace(f'name = "{row}",', f'name = "{row}", storage = "eeprom",')
        assert worn != ours
        (tmp_path / "worn.toml").write_text(worn)
        async with open_bench(tmp_path, change=read_by_another_map, settings=ModbusSettings(maps_folder=str(tmp_path))) as bench:
            with pytest.raises(WireError, match=f"{row} is kept in EEPROM"):
                await put(bench)
            assert bench.truth("pdu/A1", "pdu.armed") == 0.0

    ours = resources.files("supernoded_modbus").joinpath("maps", "pdu.toml").read_text()
    for row in ("group", "restore", "lease", "arm"):
        run(partial(story, row))


def test_what_somebody_else_has_armed_is_left_to_him(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.world.order(ArmShed(pdu="pdu/A1", outlets=(4,), restore_s=10.0, lease_s=60.0))
            with pytest.raises(WireError, match="somebody has armed outlets 4 for"):
                await put(bench)
            assert bench.truth("pdu/A1", "pdu.group") == frozenset({"4"})
            await asyncio.sleep(61.0)
            await put(bench)
            assert bench.truth("pdu/A1", "pdu.group") == frozenset({"2"})

    run(story)


def test_what_somebody_else_has_armed_is_not_handed_back_in_his_place(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.world.order(ArmShed(pdu="pdu/A1", outlets=(4,), restore_s=10.0, lease_s=60.0))
            sight = await bench.handles[TARGET].hand_back(FEED)
            assert (sight.effect, "somebody else has armed outlets 4" in sight.text) == (Effect.UNKNOWN, True)
            assert bench.truth("pdu/A1", "pdu.armed") == 1.0

    run(story)


def test_the_restore_time_is_the_topologys_and_a_long_one_has_to_be_qualified(tmp_path: Path) -> None:
    def slow(rack: Rack) -> Rack:
        first = msgspec.structs.replace(rack.pdus[0], restore_s=30.0, qualified=True)
        return msgspec.structs.replace(rack, pdus=(first, *rack.pdus[1:]))

    async def story() -> None:
        async with open_bench(tmp_path, change=slow) as bench:
            await put(bench)
            assert bench.truth("pdu/A1", "pdu.restore_s") == pytest.approx(30.0)
            pdu = next(find_site(bench.settings, bench.node).list_pdus())
            hasty = ShedPdu(pdu.unit, msgspec.structs.replace(pdu.spec, qualified=False))
            with pytest.raises(WireError, match="must be qualified"):
                await hasty.arm(FEED, 120.0)

    run(story)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 601.0, float("nan"), float("inf")])
def test_a_lease_that_is_none_is_refused(tmp_path: Path, seconds: float) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            with pytest.raises(WireError, match="a lease of"):
                await put(bench, seconds)
            assert bench.truth("pdu/A1", "pdu.armed") == 0.0

    run(story)


def test_without_the_pen_or_a_serial_number_nothing_is_armed(tmp_path: Path) -> None:
    async def story(serials: bool) -> None:
        async with open_bench(tmp_path, serials=serials) as bench:
            if serials:
                bench.wires.refusals[FEED] = "another has it"
            with pytest.raises(
                NotHeldError if serials else WireError, match="another has it" if serials else "no serial number is declared"
            ):
                await put(bench)
            assert bench.truth("pdu/A1", "pdu.armed") == 0.0

    run(lambda: story(True))
    run(lambda: story(False))


def test_on_a_poor_line_it_is_armed_or_an_error(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            armed = failed = 0
            bench.feed.faults = LineFaults(drop_frames=0.2, flip=0.003, duplicate=0.2)
            for turn in range(40):
                try:
                    await put(bench, 60.0 + turn)
                except WireError:
                    failed += 1
                    continue
                armed += 1
                assert bench.truth("pdu/A1", "pdu.lease_left") == pytest.approx(60.0 + turn, abs=3.0)
            assert armed > 3
            assert failed > 3

    run(story)


def test_what_cannot_be_read_is_not_armed_and_not_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            bench.feed.faults = LineFaults(silent=frozenset({1}))
            assert await bench.handles[TARGET].now_at() is None
            with pytest.raises(WireError):
                await put(bench)
            with pytest.raises(WireError):
                await bench.handles[TARGET].hand_back(FEED)

    run(story)
