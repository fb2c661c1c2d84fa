"""`kill -9` at seeded moments of a saga on a device with counts of its own: each order is performed once, whatever the moment.

SUPERNODED_KILLS sets how often the daemon is killed in all, SUPERNODED_SEED which moments are chosen.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from supernoded.messages import IncidentFilter, Incidents
from tests.chaos import chiller as chillers
from tests.chaos.chiller import Chiller
from tests.system.daemons import NOBODY, PATIENCE, Daemon, install

KILLS = int(os.environ.get("SUPERNODED_KILLS", "26"))
SEED = int(os.environ.get("SUPERNODED_SEED", "1"))
SAGAS_AT_ONCE = 2  # tests, so that two cores share the kills
MOST_KILLS_OF_ONE = 6  # then that saga is left to end
STEPS = ("note", "save", "fence", "test")
SETTINGS = """
[guards]
actions_per_minute = 1000
attempts_per_subject = 100
[incidents]
clear_after_s = 0
[policies.acme]
mode = "act"
[plugins.acme]
wire = "tcp://127.0.0.1:{port}"
period = 0.2
raise_after = 0.2
patience = 600.0
steer = false
"""


class KillingChiller(Chiller):
    """Kills the daemon at the n-th line it hears: before it does what the line says, before it answers, or a moment later."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__(now)
        self.lines_left, self.delay = 0, 0.0
        self.kill: Callable[[], None] = lambda: None
        self.forgetful = False  # the canary: shows nothing of what it has done
        self.heard_order = asyncio.Event()

    def arm(self, random: Random) -> None:
        """Choose a moment: among the first lines of a life, which take up what was left, or well into it."""
        self.lines_left = random.randint(1, random.choice((12, 70)))
        self.delay = random.choice((-1.0, 0.0, random.uniform(0.0, 0.03)))

    def answer(self, words: list[str]) -> str:
        self.lines_left -= 1
        due = self.lines_left == 0
        if due and self.delay < 0:
            self.kill()
        said = super().answer(words)
        if words[0] in {"note", "ask", "set"}:
            self.heard_order.set()
        if due and self.delay == 0:
            self.kill()
        elif due and self.delay > 0:
            asyncio.get_running_loop().call_later(self.delay, self.kill)
        return f"order {words[2]} 0 none" if self.forgetful and words[:2] == ["get", "order"] else said


@dataclass
class Scene:
    """One daemon, one chiller, and how many sagas there should have been."""

    daemon: Daemon
    chiller: KillingChiller
    sagas: int = 0
    kills: int = 0
    log: list[str] = field(default_factory=list)

    async def live(self) -> bool:
        """Run the daemon until it is killed or the saga at hand is through. Whether it is through."""
        d = self.daemon
        if d.process is None or d.process.returncode is not None:
            await d.launch()
        ended, through = asyncio.create_task(d.wait(10 * PATIENCE)), asyncio.create_task(self.get_through())
        await asyncio.wait([ended, through], return_when=asyncio.FIRST_COMPLETED)
        if not through.done():
            through.cancel()
            assert ended.result() == -signal.SIGKILL, "\n".join(d.log.heard)
            return False
        ended.cancel()
        through.result()
        return True

    async def get_through(self) -> None:
        """Wait for the last outcome of the newest incident, then for its close."""
        everything = IncidentFilter(all=True)

        def is_through(told: Incidents) -> bool:
            return len(told.incidents) == self.sagas and self.fetch("result") == ["done"] * len(STEPS) * self.sagas

        await self.daemon.until("incidents", Incidents, is_through, everything, within=10 * PATIENCE)
        self.chiller.health = "ok"
        await self.daemon.until("incidents", Incidents, lambda told: told.incidents[0].closed is not None, everything)

    def fetch(self, columns: str, table: str = "actions") -> list[str]:
        """One column of the journal."""
        with closing(sqlite3.connect(f"file:{self.daemon.journal}?mode=ro", uri=True)) as journal:
            return [row[0] for row in journal.execute(f"SELECT {columns} FROM {table}")]

    def find_faults(self) -> list[str]:
        """What contradicts "each intent once, each order once"."""
        wanted = {f"{incident}/{step}" for incident in self.fetch("id", "incidents") for step in STEPS}
        faults = [f"{order} was performed {count} times" for order, count in self.chiller.counts.items() if count != 1]
        faults += [f"{order} was never performed" for order in wanted - set(self.chiller.counts)]
        faults += [f"{order} is of no incident" for order in set(self.chiller.counts) - wanted]
        if len(wanted) != self.sagas * len(STEPS):
            faults.append(f"{len(wanted) // len(STEPS)} incidents in the journal, the chiller failed {self.sagas} times")
        if sorted(self.fetch("id")) != sorted(wanted):
            faults.append(f"intents {sorted(self.fetch('id'))}, wanted {sorted(wanted)}")
        faults += [f"an intent came to {result}" for result in self.fetch("result") if result != "done"]
        return faults


@asynccontextmanager
async def setting(folder: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setattr(chillers, "SAVE_TAKES", 0.6)
    monkeypatch.setattr(chillers, "TEST_TAKES", 0.3)
    chiller = KillingChiller(asyncio.get_running_loop().time)
    server = await asyncio.start_server(chiller.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    path = os.pathsep.join(
        (install(folder / "plugins", "acme", "supernoded_acme"), str(checkout / "tests" / "foreign" / "supernoded_acme"))
    )
    keys = 'plugins_off = ["fabric", "host", "link_ber"]'
    async with server, Daemon(folder, NOBODY + SETTINGS.format(port=port), keys, environment={"PYTHONPATH": path}) as daemon:
        chiller.kill = lambda: daemon.process.kill() if daemon.process is not None and daemon.process.returncode is None else None
        yield Scene(daemon, chiller)


@pytest.mark.timeout(60 + 12 * KILLS)
@pytest.mark.parametrize("part", range(SAGAS_AT_ONCE))
async def test_each_order_is_performed_once_whenever_the_daemon_is_killed(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    random = Random(f"{SEED}/{part}")
    async with setting(tmp_path, checkout, monkeypatch) as scene:
        while scene.kills < KILLS / SAGAS_AT_ONCE:
            scene.chiller.health = "failing"
            scene.sagas += 1
            for _ in range(MOST_KILLS_OF_ONE):
                scene.chiller.arm(random)
                if await scene.live():
                    break
                scene.kills += 1
            else:
                scene.chiller.lines_left = 0
                assert await scene.live()
            assert scene.find_faults() == [], f"seed {SEED}/{part}, saga {scene.sagas}, {scene.kills} kills: {scene.chiller.counts}"
        assert await scene.daemon.stop() == 0


async def test_a_device_that_forgets_is_caught(tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The canary: were observation broken, the harness would see a doubled order."""
    async with setting(tmp_path, checkout, monkeypatch) as scene:
        scene.chiller.health, scene.chiller.forgetful, scene.sagas = "failing", True, 1
        await scene.daemon.launch()
        async with asyncio.timeout(PATIENCE):
            while max(scene.chiller.counts.values(), default=0) < 2:
                scene.chiller.heard_order.clear()
                await scene.chiller.heard_order.wait()
                if not scene.kills:
                    await scene.daemon.kill()
                    scene.kills += 1
                    await scene.daemon.launch()
        assert any("note was performed 2 times" in fault for fault in scene.find_faults())
