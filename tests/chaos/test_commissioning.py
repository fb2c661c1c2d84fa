"""The valve of a simulated CDU stepped through positions over Modbus, with a whole daemon between, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import msgspec
import pytest

from sim_hardware.drives import SimSite
from sim_hardware.drives.known import load_known_rack
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import SYSFS
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.rack import Rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.ctl.thermal import to_path
from supernoded.ctl.thermal_points import Record
from supernoded.ctl.thermal_procedure import HAND_FOR, Commissioning, Plan
from supernoded.ctl.thermal_watch import Bounds
from supernoded.errors import AdminError
from supernoded.messages import Handed, HandOrder, LoopRow, Problem, Thermal, ThermalHistory, encode
from supernoded.plugin import Loop, Node, hookimpl
from supernoded.registry import Found, discover
from supernoded.settings import Settings
from supernoded_thermal.control.commissioning import read_commissioning
from supernoded_thermal.control.making import make_loops
from supernoded_thermal.settings import ThermalSettings

T = TypeVar("T", bound=msgspec.Struct)
BROKER = ("broker", 1883)


class Valves:
    """The policy's valve loops, without its rules: what commissioning needs, and no remedy that would answer to it."""

    @hookimpl
    def supernoded_settings(self) -> type[ThermalSettings]:
        return ThermalSettings

    @hookimpl
    def supernoded_loops(self, settings: ThermalSettings, node: Node) -> Sequence[Loop[Any]]:
        return make_loops(settings.control, node)


def choose_plugins(settings: Settings) -> Sequence[Found]:
    return [*(found for found in discover(settings.plugins_off) if found.name == "modbus"), Found(name="thermal", plugin=Valves())]


@dataclass
class Operator:
    """Somebody at the admin socket, who lets time pass. See `thermal_procedure.Access`."""

    loop: SimLoop
    rig: Rig
    socket: str

    def look(self) -> Thermal:
        return self.ask("GET", "thermal", Thermal)

    def hold(self, target: str, value: float | None, seconds: float) -> None:
        self.ask("POST", to_path(target), Handed, HandOrder(value=value, seconds=seconds, reason="commissioning"))

    def release(self, target: str) -> None:
        self.ask("DELETE", to_path(target), Handed)

    def sleep(self, seconds: float) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))

    def ask(self, method: str, path: str, kind: type[T], body: msgspec.Struct | None = None) -> T:
        status, told = self.loop.run_until_complete(self._request(method, path, None if body is None else encode(body)))
        if status != 200:
            raise AdminError(msgspec.json.decode(told, type=Problem).error)
        return msgspec.json.decode(told, type=kind)

    async def _request(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        answers: list[tuple[int, bytes]] = []

        async def request() -> None:
            async with (
                aiohttp.ClientSession(connector=aiohttp.UnixConnector(self.socket)) as http,
                http.request(method, f"http://n0/v1/{path}", data=body) as answer,
            ):
                answers.append((answer.status, await answer.read()))

        await self.loop.spawn(f"operator{len(self.loop.lives)}", request, host="n0", uid=0, gid=0).ended
        return answers[0]


@contextmanager
def simulate(folder: Path, rack: Rack | None = None) -> Iterator[Operator]:
    """A rack whose CDU is turned directly, and its daemon."""
    loop = SimLoop(7)
    with virtual_time(loop):
        rig = Rig(World(rack or load_known_rack("direct-1x8"), 7, loop.time), folder, 7)
        site = SimSite(loop, choose_plugins, rig=rig)
        site.broker.start()
        stack = loop.run_until_complete(_serve(rig, site))
        (folder / TOPOLOGY).write_text(write_site(rig.world.rack, rig.endpoints))
        places = Places(folder, BROKER, SYSFS, kernel=True, endpoints=rig.endpoints)
        config = folder / "n0.toml"
        config.write_text(write_settings(rig.world.rack, "n0", places))
        site.start("n0", config)
        operator = Operator(loop, rig, f"{folder}/n0/run/admin.sock")
        operator.sleep(20.0)
        yield operator
        loop.run_until_complete(stack.aclose())
        assert loop.failures == []


async def _serve(rig: Rig, site: SimSite) -> AsyncExitStack:
    stack = AsyncExitStack()
    await stack.enter_async_context(rig.serve(SimNetwork(site.net)))
    return stack


def find_valve(told: Thermal) -> LoopRow:
    return next(loop for loop in told.loops if loop.target == "cdu/0/valve")


def make_procedure(operator: Operator, positions: tuple[float, ...], most: float, *, silence: bool = False) -> Commissioning:
    return Commissioning(operator, Plan("cdu/0", positions, 30.0, Bounds(most), silence), lambda _: None)


def test_points_and_fallback_are_recorded_over_the_wire_and_the_policy_can_use_them(tmp_path: Path) -> None:
    record = Record(tmp_path / "cdu0.toml", cdu="cdu/0", recorded=1_800_000_000.0)
    with simulate(tmp_path) as operator:
        procedure = make_procedure(operator, (30.0, 45.0, 60.0), 28.0, silence=True)
        procedure.check()
        procedure.run(record)
        record.finish()
        told, history = operator.look(), operator.ask("GET", "thermal/history?loop=cdu/0", ThermalHistory)
    data = read_commissioning(record.path)
    assert data is not None
    assert [round(point.valve) for point in data.points] == [30, 45, 60]
    effects = [point.effectiveness for point in data.points]
    assert effects == sorted(effects)  # the wider open, the more is cooled
    assert data.silence_s == pytest.approx(15.0, abs=3.0)  # its watchdog, and what polls add
    assert data.fallback_c == 22.0
    assert (told.units[0].control, find_valve(told).by_hand, find_valve(told).engaged) == ("direct", False, True)
    tracks = {track.quantity: [value for _, value in track.points if value is not None] for track in history.tracks}
    assert {30, 45, 60} <= {round(value) for value in tracks["coolant.valve"]}
    assert max(tracks["coolant.supply_temperature"]) - min(tracks["coolant.supply_temperature"]) > 1.5
    assert {"coolant.return_temperature", "coolant.setpoint", "coolant.flow"} <= set(tracks)


def test_outside_its_bounds_it_lets_go_and_so_does_a_hand_that_nobody_renews(tmp_path: Path) -> None:
    record = Record(tmp_path / "cdu0.toml", cdu="cdu/0", recorded=1_800_000_000.0)
    with simulate(tmp_path) as operator:
        with pytest.raises(AdminError, match=r"cdu/0 supplies .* C, at most 22\.5 C is allowed"):
            make_procedure(operator, (15.0,), 22.5).run(record)
        assert not find_valve(operator.look()).by_hand
        operator.hold("cdu/0/valve", 80.0, HAND_FOR)
        operator.sleep(HAND_FOR - 1.0)
        held = operator.look()
        assert (find_valve(held).by_hand, find_valve(held).hand_by) == (True, "root")
        assert (held.units[0].valve or 0.0) > 60.0
        operator.sleep(5.0)
        let_go = operator.look()
        assert (find_valve(let_go).by_hand, find_valve(let_go).engaged, let_go.units[0].control) == (False, True, "direct")
        assert (find_valve(let_go).value or 0.0) < 80.0  # the supply is too cold by now, so its loop closes
        with pytest.raises(AdminError, match="cdu/0/valve cannot be held at 101 %: 0 to 100 % can be asked for"):
            operator.hold("cdu/0/valve", 101.0, HAND_FOR)
    assert record.points == []
