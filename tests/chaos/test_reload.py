"""SIGHUP and SIGTERM to a whole daemon in virtual time."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sim_hardware.drives import SimSite
from sim_hardware.loop import Process, SimLoop
from sim_hardware.loop.play import virtual_time
from tests.chaos.three import CONFIG, write_port


def play(folder: Path, scene: Callable[[Process, Path], Awaitable[None]]) -> SimLoop:
    loop = SimLoop(2)

    async def main() -> None:
        site = SimSite(loop)
        site.broker.start()
        write_port(folder / "n0" / "infiniband", 0, 0.0)
        config = folder / "n0.toml"
        config.write_text(CONFIG.format(node="n0", folder=folder))
        process = site.start("n0", config)
        await asyncio.sleep(12)
        await scene(process, config)

    with virtual_time(loop):
        loop.run_until_complete(main())
        assert loop.failures == []
    return loop


def deliver(process: Process, signum: int) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimLoop)
    loop.deliver(process, signum)


def said(loop: SimLoop, what: str) -> list[float]:
    return [entry.at for entry in loop.entries if entry.who == "n0" and what in entry.what]


def test_a_good_file_takes_effect(tmp_path: Path) -> None:
    async def scene(process: Process, config: Path) -> None:
        config.write_text(config.read_text() + '[policies.link_ber]\nmode = "act"\n')
        deliver(process, signal.SIGHUP)
        write_port(tmp_path / "n0" / "infiniband", 10_000, 12.0)
        await asyncio.sleep(20)
        write_port(tmp_path / "n0" / "infiniband", 20_000, 22.0)
        await asyncio.sleep(20)
        assert not process.dead

    loop = play(tmp_path, scene)
    assert len(said(loop, "node n0 starts")) == 2
    assert said(loop, "notify on n0/nic/mlx5_0/port1 done")


def test_a_bad_file_is_refused_by_name_and_the_old_settings_go_on(tmp_path: Path) -> None:
    async def scene(process: Process, config: Path) -> None:
        config.write_text(config.read_text() + "[mqtt2]\n")
        deliver(process, signal.SIGHUP)
        await asyncio.sleep(10)
        assert not process.dead

    loop = play(tmp_path, scene)
    assert len(said(loop, "node n0 starts")) == 1
    assert len(said(loop, "reload refused, the settings in force stay")) == 1
    assert said(loop, "mqtt2")


def test_a_database_that_is_not_used_is_said(tmp_path: Path) -> None:
    async def scene(process: Process, config: Path) -> None:
        config.write_text(config.read_text() + '[journal]\ndatabase = "postgresql://supernoded@db/fleet"\n')
        deliver(process, signal.SIGHUP)
        await asyncio.sleep(10)

    assert len(said(play(tmp_path, scene), "journal.database is not used")) == 1


def test_sigterm_ends_it_cleanly(tmp_path: Path) -> None:
    async def scene(process: Process, config: Path) -> None:
        loop = asyncio.get_running_loop()
        before = loop.time()
        deliver(process, signal.SIGTERM)
        assert await process.ended == 0
        assert loop.time() - before <= 5.0

    assert said(play(tmp_path, scene), "stopped")


def test_a_life_that_does_not_end_in_time_is_not_joined_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.process.STOP_WITHIN", 0.0)

    async def scene(process: Process, config: Path) -> None:
        deliver(process, signal.SIGHUP)
        assert await process.ended == 1  # the service manager starts it anew

    assert len(said(play(tmp_path, scene), "node n0 starts")) == 1
