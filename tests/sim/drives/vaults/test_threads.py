"""A thread that takes turns with the loop: time passes in it, and a kill falls between two of its operations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from sim_hardware.drives.vaults.threads import SimThread, spend
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net


class World:
    def __init__(self) -> None:
        self.loop = SimLoop(1)
        Net(self.loop)
        self.seen: list[tuple[float, str]] = []

    def note(self, what: str) -> None:
        self.seen.append((self.loop.time(), what))

    def work(self) -> str:
        self.note("begin")
        spend(2.0)
        self.note("middle")
        spend(3.0)
        self.note("end")
        return "done"

    def play(self, live: Callable[[], object], seconds: float = 20.0, kill_at: float = 100.0) -> None:
        async def main() -> None:
            process = self.loop.spawn("n0/vault", self.live, host="n0")
            if kill_at < seconds:
                self.loop.at(kill_at, self.loop.kill, process)
            await asyncio.sleep(seconds)

        self.do = live
        play(self.loop, main())

    async def live(self) -> None:
        thread = SimThread(self.loop, self.loop.here())
        self.note(str(await thread.start(self.do)))


def test_time_passes_and_others_go_on_meanwhile() -> None:
    world = World()
    world.loop.at(1.0, world.note, "another")
    world.play(world.work)
    assert world.seen == [(0.0, "begin"), (1.0, "another"), (2.0, "middle"), (5.0, "end"), (5.0, "done")]
    assert world.loop.failures == []


def test_one_that_is_killed_does_nothing_more_and_catches_nothing() -> None:
    world = World()

    def careful() -> str:
        try:
            return world.work()
        except Exception as error:  # noqa: BLE001 - as a vault would that clears up after any failure
            world.note(f"cleared up after {error!r}")
            return ""

    world.play(careful, kill_at=4.0)
    assert world.seen == [(0.0, "begin"), (2.0, "middle")]


def test_what_it_raises_is_raised_where_it_is_awaited() -> None:
    world = World()

    def fail() -> str:
        spend(1.0)
        raise OSError(28, "full")

    world.play(fail)
    (failure,) = world.loop.failures
    assert (failure.at, str(failure.error)) == (1.0, "[Errno 28] full")


def test_outside_of_such_a_thread_no_time_passes() -> None:
    world = World()

    async def main() -> None:
        spend(5.0)
        world.note("here")

    play(world.loop, main())
    assert world.seen == [(0.0, "here")]


def test_the_next_work_waits_for_the_one_before() -> None:
    world = World()

    async def main() -> tuple[str, str]:
        thread = SimThread(world.loop, world.loop.here())
        first, second = thread.start(world.work), thread.start(world.work)
        return await first, await second

    assert play(world.loop, main()) == ("done", "done")
    assert [at for at, what in world.seen if what == "begin"] == [0.0, 5.0]


@pytest.mark.parametrize("kill_at", [0.5, 2.5])
def test_the_same_play_twice_sees_the_same(kill_at: float) -> None:
    first, second = World(), World()
    first.play(first.work, kill_at=kill_at)
    second.play(second.work, kill_at=kill_at)
    assert first.seen == second.seen != []
    assert first.loop.digest() == second.loop.digest()
