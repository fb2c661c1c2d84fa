"""The same readings, once through `supernodectl replay` and once through a whole daemon in virtual time: the same events."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from sim_hardware.drives import SimSite
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from supernoded.clock import Clock
from supernoded.ctl.replaying import read_sources, replay
from supernoded.formats import FORMATS
from supernoded.model import NODE, Reading
from supernoded.plugin import hookimpl
from supernoded.registry import Found, discover
from supernoded.settings import Settings, default_settings
from supernoded.wire import Node

CONFIG = """\
node = "n0"
state = "{folder}/state"
runtime = "{folder}/run"
plugins_off = ["fabric", "host"]
[mqtt]
host = "broker"
"""
PERIOD, POLLS = 5.0, 40


def errors_at(poll: int) -> int:
    """None, then 300 per poll for a while, then none again."""
    return min(max(poll - 8, 0), 6) * 300


def readings_at(poll: int, at: float) -> list[Reading]:
    def counter(quantity: str, value: float, unit: str) -> Reading:
        return Reading(subject="n0/card0/port0", quantity=quantity, value=value, unit=unit, at=at)

    return [
        counter("link.state", 1.0, "1"),
        counter("link.bits", poll * 5e11, "bit"),
        counter("link.symbol_errors", float(errors_at(poll)), "1"),
    ]


@dataclass
class Playback:
    """A sensor that reads what was recorded, and notes when."""

    clock: Clock
    recorded: list[Reading] = field(default_factory=list)
    name: str = "playback"
    scope: str = NODE
    period: float = PERIOD
    timeout: float = 1.0
    polls: int = 0

    async def read(self) -> Sequence[Reading]:
        if self.polls >= POLLS:
            await asyncio.Event().wait()
        readings = readings_at(self.polls, self.clock.now())
        self.polls += 1
        self.recorded += readings
        return readings


def play_live(folder: Path) -> tuple[list[Reading], list[tuple[str, str, bool, str]]]:
    sensors: list[Playback] = []

    def supernoded_sensors(settings: Any, node: Node) -> list[Playback]:
        sensors.append(Playback(node.clock))
        return sensors

    def plugins(settings: Settings) -> list[Found]:
        playback = Found(name="playback", plugin=SimpleNamespace(supernoded_sensors=hookimpl(supernoded_sensors)))
        return [found for found in discover(settings.plugins_off) if found.name != "acme"] + [playback]

    loop = SimLoop(3)
    config = folder / "supernoded.toml"
    config.write_text(CONFIG.format(folder=folder))

    async def main() -> None:
        site = SimSite(loop, plugins)
        site.broker.start()
        site.start("n0", config)
        await asyncio.sleep(PERIOD * POLLS + 2.0)

    with virtual_time(loop):
        loop.run_until_complete(main())
        assert loop.failures == []
        with sqlite3.connect(folder / "state" / "journal.db") as db:
            rows = db.execute("SELECT kind, subject, raised, text FROM events ORDER BY at").fetchall()
    return sensors[0].recorded, [(kind, subject, bool(raised), text) for kind, subject, raised, text in rows]


def test_replay_and_live_give_the_same_events(tmp_path: Path) -> None:
    recorded, live = play_live(tmp_path)
    path = tmp_path / "readings.jsonl"
    path.write_bytes(b"\n".join(msgspec.json.encode(reading) for reading in recorded))
    lines: list[dict[str, object]] = []
    replay(read_sources([path], "n0", 0.0, PERIOD), FORMATS["readings"], default_settings(node="n0"), PERIOD, lines.append)
    replayed = [(line["kind"], line["subject"], line["raised"], line["text"]) for line in lines if line["type"] == "event"]
    assert len(live) >= 1
    assert live[0][:3] == ("link.ber", "n0/card0/port0", True)
    assert replayed == live
