"""A shed for a whole line by one broadcast: only where nobody else can take it for something else, and each PDU is asked afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import msgspec
import pytest

from sim_hardware.bus import LineFaults
from sim_hardware.plant.power.orders import ArmShed
from sim_hardware.rack import Rack
from supernoded.model import Effect
from supernoded.plugin import WireError
from supernoded_modbus.settings import ModbusSettings
from tests.plugins.modbus.benches import arm, do, look, open_bench, run, state

SHED = "power.shed"


def test_all_armed_pdus_of_a_line_are_fired_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1", "A2")
            await asyncio.gather(do(bench, SHED, "pdu/A1"), do(bench, SHED, "pdu/A2"))
            assert bench.feed.record.counts["broadcasts"] == 1
            for name in ("pdu/A1", "pdu/A2"):
                assert await look(bench, SHED, name) is Effect.PRESENT
                assert bench.truth(name, "pdu.event_count") == 2.0  # armed, fired

    run(story)


def test_no_broadcast_where_another_group_is_armed_than_the_topology_says(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1")
            bench.world.order(ArmShed(pdu="pdu/A2", outlets=(1,), restore_s=10.0, lease_s=120.0))
            await do(bench, SHED, "pdu/A1")
            assert bench.feed.record.counts["broadcasts"] == 0
            assert state(bench, "A1/outlet2") == "off"
            assert state(bench, "A2/outlet1") == "on"
            with pytest.raises(WireError, match="not armed as the topology says"):
                await do(bench, SHED, "pdu/A2")
            assert state(bench, "A2/outlet1") == "on"

    run(story)


def test_no_broadcast_where_a_pdu_of_the_line_is_not_ours_to_fire(tmp_path: Path) -> None:
    def add_stranger(rack: Rack) -> Rack:
        replace, second = msgspec.structs.replace, rack.pdus[1]
        wire = re.sub("unit=[0-9]+", "unit=9", second.wire)
        return replace(rack, pdus=(*rack.pdus, replace(second, name="A3", wire=wire, outlets=())))

    run(lambda: fire_one_of_two(tmp_path, add_stranger, ModbusSettings()))


def test_no_broadcast_where_another_map_has_its_trigger_elsewhere(tmp_path: Path) -> None:
    def read_by_another_map(rack: Rack) -> Rack:
        replace, second = msgspec.structs.replace, rack.pdus[1]
        return replace(rack, pdus=(rack.pdus[0], replace(second, wire=f"{second.wire}&map=other"), rack.pdus[2]))

    ours = resources.files("supernoded_modbus").joinpath("maps", "pdu.toml").read_text()
    assert "address = 1000" in ours
    (tmp_path / "other.toml").write_text(ours.replace("address = 1000", "address = 1001"))
    run(lambda: fire_one_of_two(tmp_path, read_by_another_map, ModbusSettings(maps_folder=str(tmp_path))))


async def fire_one_of_two(folder: Path, change: Callable[[Rack], Rack], settings: ModbusSettings) -> None:
    async with open_bench(folder, change=change, settings=settings) as bench:
        await arm(bench, "A1", "A2")
        await do(bench, SHED, "pdu/A1")
        assert bench.feed.record.counts["broadcasts"] == 0
        assert (state(bench, "A1/outlet2"), state(bench, "A2/outlet2")) == ("off", "on")


def test_no_broadcast_where_one_cannot_be_seen_or_it_is_switched_off(tmp_path: Path) -> None:
    async def story(broadcast: bool, silent: frozenset[int]) -> None:
        async with open_bench(tmp_path, settings=ModbusSettings(broadcast=broadcast)) as bench:
            await arm(bench, "A1", "A2")
            bench.feed.faults = LineFaults(silent=silent)
            await do(bench, SHED, "pdu/A1")
            assert bench.feed.record.counts["broadcasts"] == 0
            assert state(bench, "A1/outlet2") == "off"
            assert state(bench, "A2/outlet2") == "on"

    run(lambda: story(True, frozenset({2})))
    run(lambda: story(False, frozenset()))


def test_one_that_does_not_hear_the_broadcast_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broadcasts are not answered, so each PDU is asked afterwards."""

    async def story() -> None:
        async with open_bench(tmp_path) as bench:
            await arm(bench, "A1", "A2")
            line = bench.wires.line("serial:///bus/feed-A?baud=115200")
            broadcast = line.broadcast

            async def lose(scope: str, request: bytes, turnaround: float = 0.2) -> None:
                await broadcast(scope, request[:-1] + bytes((request[-1] ^ 1,)), turnaround)

            monkeypatch.setattr(line, "broadcast", lose)
            with pytest.raises(WireError, match="pdu/A1, pdu/A2 shows no firing"):
                await do(bench, SHED, "pdu/A1")
            assert await look(bench, SHED, "pdu/A1") is Effect.ABSENT

    run(story)
