"""A play in real time: devices on ports, a daemon as a process, and a director."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import msgspec
import pytest

from sim_hardware.devices.panel import Panel
from sim_hardware.drives import bench
from sim_hardware.drives.bench import Bench
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.plant.job.orders import StopJob
from supernoded.chaos.drive import Injection, Setup, Stage
from supernoded.errors import ChaosError
from supernoded.model import Effect

BARE = Setup(rack="rack-1x2", plugins=(), max_wall=30.0)  # no daemon


def make_injection(fault: str, target: str, seconds: float = 30.0) -> Injection:
    kind = CATALOGUE[fault]
    return Injection(fault, fault, target, msgspec.convert({}, kind.parameters), seconds)


async def wait_for(stage: Stage, kind: str, within: float = 20.0) -> None:
    """Until it has been told."""
    deadline = stage.now() + within
    while not any(told.kind == kind for told in stage.told()):
        assert stage.now() < deadline, f"{kind} was not told: {stage.told()}"
        await stage.wait(deadline)


def test_a_real_daemon_tells_what_was_done_to_the_rack() -> None:
    unplugged = make_injection("link.optics_unplug", "n0/card0/port0")

    async def direct(stage: Stage) -> list[str]:
        await stage.manifest(unplugged)
        await stage.inject(unplugged)
        assert stage.truth("n0/card0/port0", "link.state") == 0
        await wait_for(stage, "link.down")
        assert (await stage.manifest(unplugged)).effect is Effect.PRESENT
        await stage.lift(unplugged)
        return [told.subject for told in stage.told() if told.kind == "link.down" and told.raised]

    played = Bench().play(Setup(rack="rack-1x2", settings="plugins.fabric.period_s = 0.2\n", max_wall=60.0), direct)
    assert "n0/card0/port0" in played.result
    assert played.failures == []
    assert len(played.trace_hash) == 64


def test_without_physics_faults_do_nothing() -> None:
    async def direct(stage: Stage) -> object:
        await stage.inject(make_injection("link.optics_unplug", "n0/card0/port0"))
        return stage.truth("n0/card0/port0", "link.state")

    assert Bench().play(msgspec.structs.replace(BARE, physics=False), direct).result == 1


def test_a_stand_in_acts_and_one_that_breaks_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    class Breaking:
        """Stops the job, and then breaks."""

        def act(self, panel: Panel) -> None:
            panel.order(StopJob("train"))
            raise ZeroDivisionError

    monkeypatch.setattr(bench, "STAND_INS", {"breaking": Breaking})

    async def direct(stage: Stage) -> object:
        await stage.wait(stage.now() + 5.0)
        return stage.truth("job/train", "job.state")

    played = Bench().play(msgspec.structs.replace(BARE, stand_in="breaking"), direct)
    assert played.result in {"stopped", "saving"}
    assert played.failures == ["the stand-in breaking ended by itself: ZeroDivisionError()"]


def test_a_daemon_that_dies_is_a_failure_with_its_name_and_code() -> None:
    async def direct(stage: Stage) -> None:
        for pid in find_children("-m\0supernoded\0"):
            os.kill(pid, signal.SIGKILL)
        while find_children("-m\0supernoded\0"):
            await stage.wait(stage.now() + 0.05)

    played = Bench().play(Setup(rack="rack-1x2", max_wall=60.0), direct)
    assert len(played.failures) == 1
    assert played.failures[0].startswith("the daemon of n0 ended ")
    assert " with code -9: " in played.failures[0]


def test_a_daemon_that_cannot_start_ends_the_play_with_its_last_words() -> None:
    async def direct(_: Stage) -> None:
        raise AssertionError("it is not played")

    with pytest.raises(ChaosError, match=r"the daemon of n0 ended by itself with code 78: .*no_such_key"):
        Bench().play(Setup(rack="rack-1x2", settings="no_such_key = 1\n", max_wall=60.0), direct)
    assert find_children("mosquitto") == []


def test_a_play_that_takes_too_long_ends() -> None:
    async def direct(_: Stage) -> None:
        await asyncio.Event().wait()

    with pytest.raises(ChaosError, match="took more than 1 s on the wall"):
        Bench().play(msgspec.structs.replace(BARE, max_wall=1.0), direct)
    assert find_children("mosquitto") == []


def test_what_the_director_raises_comes_out_and_the_stage_is_cleared() -> None:
    async def direct(stage: Stage) -> None:
        del stage
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Bench().play(BARE, direct)
    assert find_children("mosquitto") == []


def find_children(words: str) -> list[int]:
    """Our own child processes whose command line has these words, each ended by a zero byte."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_text()
        except OSError:
            continue
        if parent == os.getpid() and words in command:
            found.append(int(folder.name))
    return found
