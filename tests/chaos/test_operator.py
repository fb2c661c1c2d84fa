"""A whole daemon in virtual time with an operator at its admin socket: modes, hand-back, what survives a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import aiohttp
import msgspec
import pytest

from sim_hardware.drives import SimSite
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from supernoded.errors import JournalError
from supernoded.journal.entries import Question
from supernoded.journal.writer import Journal
from supernoded.messages import (
    Actions,
    Answer,
    Events,
    Health,
    Holds,
    Incidents,
    ModeChange,
    ModeChanged,
    Modes,
    Plugins,
    Readings,
    Rehearsed,
    Status,
    Story,
    encode,
)
from supernoded.model import Mode, Severity
from tests.chaos.chiller import Chiller
from tests.chaos.saga import CONFIG, acme_beside_ours

T = TypeVar("T", bound=msgspec.Struct)
NOBODY = 65534


@dataclass
class World:
    loop: SimLoop
    site: SimSite
    chiller: Chiller
    config: Path
    socket: str

    async def request(self, path: str, *, put: Mode | None = None, uid: int = 0) -> tuple[int, bytes]:
        """One request of a process of its own, as that user."""
        answers: list[tuple[int, bytes]] = []

        async def request() -> None:
            async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(self.socket)) as http:
                body = encode(ModeChange(mode=put)) if put is not None else None
                async with http.request("PUT" if put is not None else "GET", f"http://n0/v1/{path}", data=body) as answer:
                    answers.append((answer.status, await answer.read()))

        await self.loop.spawn(f"operator{len(self.loop.lives)}", request, host="n0", uid=uid, gid=uid).ended
        return answers[0]

    async def ask(self, path: str, kind: type[T], *, put: Mode | None = None) -> T:
        """What root is answered."""
        status, body = await self.request(path, put=put)
        assert status == 200, body
        return msgspec.json.decode(body, type=kind)

    def restart(self) -> None:
        self.loop.kill(self.loop.processes["n0"])
        self.site.start("n0", self.config)


def play(folder: Path, scene: Callable[[World], Awaitable[None]], *, mode: str, steer: bool = False) -> World:
    loop = SimLoop(11)
    chiller = Chiller(loop.time)
    config = folder / "supernoded.toml"
    config.write_text(CONFIG.format(folder=folder, mode=mode).replace("steer = false", f"steer = {str(steer).lower()}"))
    worlds: list[World] = []

    async def main() -> None:
        site = SimSite(loop, acme_beside_ours)
        site.broker.start()

        async def serve() -> None:
            await (await asyncio.start_server(chiller.serve, "chiller", 7100)).serve_forever()

        loop.spawn("chiller", serve)
        site.start("n0", config)
        worlds.append(World(loop, site, chiller, config, f"{folder}/n0/run/admin.sock"))
        await asyncio.sleep(5)
        await scene(worlds[0])

    with virtual_time(loop):
        loop.run_until_complete(main())
        assert loop.failures == []
    return worlds[0]


def test_leaving_act_hands_the_pump_back_before_it_says_done(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        world.chiller.supply = 24.0
        await asyncio.sleep(10)
        assert world.chiller.answer(["get", "pump"]).endswith("remote")
        changed = await world.ask("modes/acme", ModeChanged, put=Mode.OBSERVE)
        assert (changed.before, changed.after) == (Mode.ACT, Mode.OBSERVE)
        assert "n0/chiller0/pump: handed back, and the device shows it" in changed.text
        assert world.chiller.answer(["get", "pump"]).endswith("own")
        await asyncio.sleep(20)
        assert world.chiller.answer(["get", "pump"]).endswith("own")

    play(tmp_path, scene, mode="act", steer=True)


def test_a_mode_outlives_the_daemon_and_says_who_said_it(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        await world.ask("modes/acme", ModeChanged, put=Mode.ACT)
        world.restart()
        await asyncio.sleep(5)
        modes = await world.ask("modes", Modes)
        (acme,) = [policy for policy in modes.policies if policy.policy == "acme"]
        assert (acme.mode, acme.said_by) == (Mode.ACT, "root")

    play(tmp_path, scene, mode="observe")


def test_an_incident_from_observe_to_act_to_its_close(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        world.chiller.health = "failing"
        await asyncio.sleep(10)
        rehearsed = await world.ask("rehearsals?policy=acme", Rehearsed)
        assert sorted(deed.action.step.name for deed in rehearsed.actions) == ["fence", "note", "save", "test"]
        assert world.chiller.counts == {}
        await world.ask("modes/acme", ModeChanged, put=Mode.ACT)
        await asyncio.sleep(10)
        assert set(world.chiller.counts.values()) == {1}
        incidents = await world.ask("incidents", Incidents)
        (incident,) = incidents.incidents
        assert incident.severity is Severity.CRITICAL
        world.chiller.health = "ok"
        await asyncio.sleep(65)
        story = await world.ask(f"incidents/{incident.id}", Story)
        assert story.incident.closed is not None
        assert [event.raised for event in story.events] == [True, False]
        assert len([deed for deed in story.actions if not deed.rehearsed and deed.outcome is not None]) == 4
        status = await world.ask("status", Status)
        assert status.open_incidents == {}
        assert status.troubles == ()

    play(tmp_path, scene, mode="observe")


def test_a_near_miss_opens_nothing(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        world.chiller.health = "failing"
        await asyncio.sleep(2)
        world.chiller.health = "ok"
        await asyncio.sleep(20)
        incidents = await world.ask("incidents?all=true", Incidents)
        assert incidents.incidents == ()

    play(tmp_path, scene, mode="act")


def test_a_dead_device_makes_its_readings_unknown_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        world.chiller.deaf = True
        await asyncio.sleep(15)
        readings = await world.ask("readings?subject=n0/chiller0", Readings)
        assert {reading.state.value for reading in readings.readings} == {"unknown"}
        status = await world.ask("status", Status)
        assert [sensor.name for sensor in status.failing_sensors] == ["acme chiller0"]
        assert status.readings["good"] > 3
        world.chiller.deaf = False
        await asyncio.sleep(15)
        status = await world.ask("status", Status)
        assert status.failing_sensors == ()

    play(tmp_path, scene, mode="observe")


@pytest.mark.parametrize(
    ("path", "kind"), [("actions", Actions), ("plugins", Plugins), ("events", Events), ("holds", Holds), ("health", Health)]
)
def test_every_question_is_answered(tmp_path: Path, path: str, kind: type[Answer]) -> None:
    async def scene(world: World) -> None:
        assert (await world.ask(path, kind)).now > 0

    play(tmp_path, scene, mode="observe")


def test_who_is_no_operator_may_not_change_a_mode(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        status, body = await world.request("modes/acme", put=Mode.ACT, uid=NOBODY)
        assert status == 403
        assert b"supernoded-operators" in body
        modes = await world.ask("modes", Modes)
        assert {policy.mode for policy in modes.policies} == {Mode.OBSERVE}

    play(tmp_path, scene, mode="observe")


def test_what_an_operator_said_counts_as_soon_as_the_journal_can_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, down = Journal.ask, list[bool]()

    async def fail(journal: Journal, question: Question[T]) -> T:
        if down:
            raise JournalError("the disk hangs")
        return await ask(journal, question)

    monkeypatch.setattr(Journal, "ask", fail)

    async def scene(world: World) -> None:
        await world.ask("modes/acme", ModeChanged, put=Mode.OBSERVE)
        down.append(True)
        world.restart()
        await asyncio.sleep(5)
        status = await world.ask("status", Status)
        assert status.modes["acme"] is Mode.ACT  # the settings count, and that is said
        assert any("what operators said: unknown until the journal can be read" in trouble for trouble in status.troubles)
        down.clear()
        await asyncio.sleep(5)
        status = await world.ask("status", Status)
        assert status.modes["acme"] is Mode.OBSERVE
        assert status.troubles == ()

    play(tmp_path, scene, mode="act")
