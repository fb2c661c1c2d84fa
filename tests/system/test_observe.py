"""A whole site in `observe`: over a sag of both mains no order reaches a device. In `act` PDUs are armed, and leaving it disarms them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim_hardware.devices.modbus.writes import Writes
from sim_hardware.drives.sim import Sim
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.plant.power.orders import ArmShed, DisarmShed
from sim_hardware.world import World
from supernoded.chaos.drive import Injection, Setup, Stage
from supernoded.model import Mode, Said
from supernoded.modes import Modes

SAG_S = 1.2
OBSERVE = """
mode = "observe"
[vault.interval]
ask = false  # checkpoints at an interval are the job's own affair, in every mode
"""
PDUS = ("pdu/A1", "pdu/B1")


class Record:
    """What reached the devices of the plant, and what operators can say to its daemons."""

    def __init__(self) -> None:
        self.modes: list[Modes] = []
        self.orders: list[object] = []
        self.writes = 0  # of registers and coils, whatever they did

    def say(self, mode: Mode) -> None:
        for modes in self.modes:
            modes.say(Said(policy="power", mode=mode, by="alice", at=0.0))


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Record:
    found = Record()

    def note(kind: type, name: str, seen: Callable[..., None]) -> None:
        real = getattr(kind, name)

        def call(*arguments: object, **named: object) -> object:
            seen(*arguments)
            return real(*arguments, **named)

        monkeypatch.setattr(kind, name, call)

    def count(*_: object) -> None:
        found.writes += 1

    note(Modes, "__init__", lambda modes, *_: found.modes.append(modes))
    note(World, "order", lambda _, order: found.orders.append(order))
    note(Writes, "apply", count)
    note(Writes, "apply_bit", count)
    return found


async def wait_until(stage: Stage, within: float, true: Callable[[], bool]) -> float:
    """Seconds until then."""
    begun = stage.now()
    while not true():
        assert stage.now() < begun + within
        await stage.wait(stage.now() + 0.5)
    return stage.now() - begun


async def pass_time(stage: Stage, seconds: float) -> None:
    end = stage.now() + seconds
    while stage.now() < end:
        await stage.wait(end)


async def sag(stage: Stage, record: Record) -> None:
    fault = CATALOGUE["power.input_sag"]
    sags = [Injection(f"sag-{feed}", fault.kind, f"utility/{feed}", fault.parameters(), SAG_S) for feed in "AB"]
    for one in sags:
        await stage.inject(one)
    await pass_time(stage, SAG_S)
    for one in sags:
        await stage.lift(one)
    assert len(record.orders) == 4  # begun and ended, by the test
    record.orders.clear()


def test_in_observe_nothing_is_written_and_leaving_act_disarms(record: Record) -> None:
    async def direct(stage: Stage) -> None:
        await pass_time(stage, 45.0)
        assert record.orders == []
        await sag(stage, record)
        await pass_time(stage, 75.0)
        assert any(told.kind == "power.outage" and told.raised for told in stage.told())  # it was seen
        assert (record.orders, record.writes) == ([], 0)

        record.say(Mode.ACT)
        await wait_until(stage, 90.0, lambda: all(stage.truth(pdu, "pdu.armed") == 1.0 for pdu in PDUS))
        assert {type(order) for order in record.orders} == {ArmShed}
        assert record.writes > 0

        record.say(Mode.OBSERVE)
        assert await wait_until(stage, 5.0, lambda: all(stage.truth(pdu, "pdu.armed") == 0.0 for pdu in PDUS)) <= 5.0
        assert {type(order) for order in record.orders} == {ArmShed, DisarmShed}
        record.orders.clear()
        await pass_time(stage, 60.0)
        assert record.orders == []

    played = Sim().play(Setup(rack="single-path-2x8", seed=3, settings=OBSERVE), direct)
    assert list(played.failures) == []
