"""A simulated CDU that is turned, for tests of who may turn it and how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from sim_hardware.bus import LineFaults
from sim_hardware.plant.words import Order
from sim_hardware.rack import Rack
from supernoded.model import Action, Setpoint, Step
from supernoded.parts import Handle
from supernoded.plugin import LapsedError, WireError
from supernoded_modbus.settings import ModbusSettings
from tests.plugins.modbus.benches import Bench, open_bench, open_beside

CDU = "cdu/0"
UNIT = 12  # on its line
MAPS = ("rpu", "dcd", "plc")
Authority = Literal["setpoint", "direct"]
QUANTITIES = {
    "valve": ("coolant.valve", "%"),
    "pump": ("coolant.pump_speed", "%"),
    "setpoint": ("coolant.setpoint", "C"),
    "pressure": ("coolant.pressure_difference", "kPa"),
}


def grant(authority: Authority) -> Callable[[Rack], Rack]:
    def change(rack: Rack) -> Rack:
        replace = msgspec.structs.replace
        return replace(rack, loops=tuple(replace(loop, authority=authority) for loop in rack.loops))

    return change


class Hall:
    """One CDU as one node turns it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    def handle(self, name: str) -> Handle:
        return self.bench.handles[f"{CDU}/{name}"]

    async def now_at(self, name: str = "valve") -> float:
        setpoint = await self.handle(name).now_at()
        assert setpoint is not None
        assert (setpoint.target, setpoint.quantity, setpoint.unit) == (f"{CDU}/{name}", *QUANTITIES[name])
        return setpoint.value

    async def put(self, value: float, name: str = "valve") -> None:
        quantity, unit = QUANTITIES[name]
        await self.handle(name).put(Setpoint(target=f"{CDU}/{name}", quantity=quantity, value=value, unit=unit), CDU)

    async def hold(self, value: float, seconds: int, name: str = "valve") -> list[str]:
        """A put every second, as a loop does; what was refused. What has lapsed is taken anew in the same second."""
        refused = []
        for _ in range(seconds):
            try:
                try:
                    await self.put(value, name)
                except LapsedError:
                    await self.now_at(name)
                    await self.put(value, name)
            except WireError as error:
                refused.append(str(error))
            await asyncio.sleep(1.0)
        return refused

    def truth(self, quantity: str, subject: str = CDU) -> object:
        return self.bench.truth(subject, quantity)

    def number(self, quantity: str, subject: str = CDU) -> float:
        value = self.truth(quantity, subject)
        assert isinstance(value, float)
        return value

    def check(self, control: str, quantity: str, value: float) -> None:
        """Whose it is, and one number of it."""
        assert self.truth("coolant.control") == control
        assert self.number(quantity) == pytest.approx(value, abs=0.06)

    def do(self, order: Order) -> None:
        """By other hands."""
        self.bench.world.order(order)

    def silence(self, *, silent: bool) -> None:
        """Its wire is cut, or mended."""
        if CDU in self.bench.devices:
            self.bench.devices[CDU].impairment.silent = silent
        else:
            self.bench.buses["/bus/cdu0"].faults = LineFaults(silent=frozenset({UNIT} if silent else ()))

    def take_names(self) -> list[str]:
        """The names of the orders that the plant had since the last time, from whomever."""
        names = [type(order).__name__ for order in self.bench.world.orders]
        self.bench.world.orders.clear()
        return names

    def act(self, kind: str, target: str = CDU, amount: float | None = None) -> Action:
        now = self.bench.node.clock.now()
        step = Step(name="s", kind=kind, target=target, reason="a test", amount=amount)
        return Action(id="i/s", step=step, incident="i", scope=CDU, epoch=1, issued=now, deadline=now + 10.0)


def make_folder(folder: Path, name: str) -> Path:
    """A state folder of its own."""
    made = folder / name
    made.mkdir()
    return made


def place_record(folder: Path) -> Path:
    """Where a node with this state folder keeps what it has done to the CDU."""
    return folder / f"{CDU}.json"


def leave_record(folder: Path, text: str) -> None:
    """What an earlier life has written there."""
    make_folder(folder, "cdu")
    place_record(folder).write_text(text)


@asynccontextmanager
async def open_hall(
    folder: Path, cdu: str = "dcd", authority: Authority = "direct", *, serials: bool = True, settings: ModbusSettings | None = None
) -> AsyncIterator[Hall]:
    async with open_bench(folder, cdu=cdu, change=grant(authority), serials=serials, settings=settings) as bench:
        await asyncio.sleep(5.0)
        yield Hall(bench)


@asynccontextmanager
async def enter_hall(hall: Hall, name: str, folder: Path) -> AsyncIterator[Hall]:
    """The same from another node, or in another life."""
    async with open_beside(hall.bench, name, folder) as bench:
        yield Hall(bench)
