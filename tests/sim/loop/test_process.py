"""Processes: kill, pause, signals, ends."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextvars import ContextVar

import pytest

from sim_hardware.loop import Process, SimLoop
from sim_hardware.loop.play import play, virtual_time


def run(scenario: Callable[[SimLoop], Coroutine[None, None, None]], seed: int = 1) -> SimLoop:
    loop = SimLoop(seed)
    play(loop, scenario(loop))
    return loop


class Ticker:
    """A process that notes each of its ticks, and whether its `finally` has run."""

    def __init__(self, loop: SimLoop) -> None:
        self.loop = loop
        self.ticks: list[float] = []
        self.finished = False

    async def main(self) -> None:
        try:
            while True:
                await asyncio.sleep(1)
                self.ticks.append(self.loop.time())
        finally:
            await asyncio.sleep(0)
            self.finished = True


def test_a_killed_process_runs_no_callback_and_no_finally() -> None:
    loop = SimLoop(1)
    ticker = Ticker(loop)

    async def main() -> None:
        process = loop.spawn("n0", ticker.main)
        await asyncio.sleep(3.5)
        loop.kill(process)
        await asyncio.sleep(10)

    with virtual_time(loop):
        loop.run_until_complete(main())
        assert ticker.ticks == [1, 2, 3]
        assert not ticker.finished
        assert loop.processes["n0"].exit_code == -signal.SIGKILL


def test_a_cancelled_one_does_run_its_finally() -> None:
    loop = SimLoop(1)
    ticker = Ticker(loop)

    async def main() -> None:
        process = loop.spawn("n0", ticker.main)
        await asyncio.sleep(3.5)
        process.tasks[0].cancel()
        await process.ended

    play(loop, main())
    assert ticker.finished


def test_the_dead_are_not_among_all_tasks_and_their_generators_are_not_closed() -> None:
    loop = SimLoop(1)
    closed: list[str] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(1)
        finally:
            closed.append("generator")

    async def process() -> None:
        async for _ in numbers():
            pass

    async def main() -> None:
        loop.kill(await started(loop.spawn("n0", process)))
        await asyncio.sleep(5)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def started(process: Process) -> Process:
        await asyncio.sleep(2.5)
        return process

    play(loop, main())
    assert closed == []


def test_a_process_can_be_killed_before_any_of_its_turns() -> None:
    async def count(ends: list[int]) -> None:
        for number in range(5):
            await asyncio.sleep(0.1)
            ends.append(number)

    def die_before(turn: int) -> tuple[int, int]:
        loop = SimLoop(1)
        done: list[int] = []

        def before(process: Process) -> None:
            if process.turns + 1 == turn:
                loop.kill(process)

        async def main() -> None:
            process = loop.spawn("n0", lambda: count(done))
            process.before_turn = before
            await asyncio.sleep(2)

        play(loop, main())
        return len(done), loop.processes["n0"].turns

    whole = die_before(-1)
    assert whole[0] == 5
    reached = [die_before(turn) for turn in range(1, whole[1] + 1)]
    assert [turns for _, turns in reached] == list(range(whole[1]))
    assert {done for done, _ in reached} >= {0, 1, 2, 3, 4}


def test_what_a_hook_plans_outlives_the_process_it_kills() -> None:
    lives: list[int] = []

    async def scenario(loop: SimLoop) -> None:
        async def process() -> None:
            lives.append(loop.here().number)
            await asyncio.sleep(1)

        def before(process: Process) -> None:
            if loop.time() >= 1:
                loop.kill(process)
                loop.call_later(2, loop.spawn, "n0", process_main)

        process_main = process
        loop.spawn("n0", process).before_turn = before
        await asyncio.sleep(10)

    run(scenario)
    assert lives == [1, 2]


def test_what_one_process_plans_dies_with_it_unless_it_is_planned_as_the_site() -> None:
    ran: list[str] = []

    async def scenario(loop: SimLoop) -> None:
        async def process() -> None:
            loop.call_later(2, ran.append, "own")
            loop.after(2, ran.append, "site")
            await asyncio.sleep(10)

        loop.at(1, loop.kill, loop.spawn("n0", process))
        await asyncio.sleep(5)

    run(scenario)
    assert ran == ["site"]


def test_a_paused_process_gets_its_timers_on_resume_in_order() -> None:
    ran: list[tuple[float, str]] = []

    async def scenario(loop: SimLoop) -> None:
        def note(word: str) -> None:
            ran.append((loop.time(), word))

        async def process() -> None:
            for delay in (3, 1, 2):
                loop.call_later(delay, note, f"after {delay}")
            await asyncio.sleep(100)

        paused = loop.spawn("n0", process)
        loop.at(0.5, loop.pause, paused)
        loop.at(50, loop.resume, paused)
        await asyncio.sleep(60)

    run(scenario)
    assert ran == [(50, "after 1"), (50, "after 2"), (50, "after 3")]


def test_a_held_callback_can_still_be_cancelled() -> None:
    ran: list[str] = []

    async def scenario(loop: SimLoop) -> None:
        async def process() -> None:
            late = loop.call_later(2, ran.append, "late")
            loop.call_later(1, late.cancel)
            await asyncio.sleep(100)

        paused = loop.spawn("n0", process)
        loop.at(0.5, loop.pause, paused)
        loop.at(5, loop.resume, paused)
        await asyncio.sleep(10)

    run(scenario)
    assert ran == []


def test_a_timeout_that_ran_out_during_a_pause_is_noticed() -> None:
    seen: list[str] = []

    async def scenario(loop: SimLoop) -> None:
        async def process() -> None:
            try:
                async with asyncio.timeout(1):
                    await loop.create_future()
            except TimeoutError:
                seen.append(f"{loop.time()}")

        paused = loop.spawn("n0", process)
        loop.at(0.5, loop.pause, paused)
        loop.at(8, loop.resume, paused)
        await paused.ended

    run(scenario)
    assert seen == ["8.0"]


def test_a_process_that_returns_has_ended_and_its_tasks_were_cancelled() -> None:
    ends: list[str] = []

    async def scenario(loop: SimLoop) -> None:
        async def background() -> None:
            try:
                await asyncio.sleep(1000)
            finally:
                ends.append("background")

        async def process() -> None:
            task = asyncio.create_task(background())
            await asyncio.sleep(1)
            assert not task.done()

        assert await loop.spawn("n0", process).ended == 0
        assert (loop.time(), ends) == (1, ["background"])
        assert loop.spawn("n0", process).number == 2

    run(scenario)


@pytest.mark.parametrize(("error", "code", "failures"), [(SystemExit(3), 3, 0), (SystemExit("why"), 1, 0), (ValueError("x"), 1, 1)])
def test_how_a_process_ends_is_its_exit_code(error: BaseException, code: int, failures: int) -> None:
    async def scenario(loop: SimLoop) -> None:
        async def process() -> None:
            raise error

        assert await loop.spawn("n0", process).ended == code

    assert len(run(scenario).failures) == failures


def test_two_lives_at_once_are_refused() -> None:
    async def scenario(loop: SimLoop) -> None:
        loop.spawn("n0", lambda: asyncio.sleep(10))
        with pytest.raises(ValueError, match="n0#1 is still alive"):
            loop.spawn("n0", lambda: asyncio.sleep(10))

    run(scenario)


def test_a_signal_goes_to_the_handler_of_its_process() -> None:
    heard: list[tuple[str, str, str]] = []

    async def scenario(loop: SimLoop) -> None:
        def hear(name: str, word: str) -> None:
            heard.append((name, word, str(loop.here())))

        async def process(name: str) -> None:
            asyncio.get_running_loop().add_signal_handler(
                signal.SIGHUP, lambda word: heard.append((name, word, str(loop.here()))), "reload"
            )
            await asyncio.sleep(10)

        first = loop.spawn("n0", lambda: process("n0"))
        second = loop.spawn("n1", lambda: process("n1"))
        await asyncio.sleep(1)
        loop.deliver(second, signal.SIGHUP)
        loop.deliver(second, signal.SIGHUP)
        await asyncio.sleep(1)
        assert not first.dead

    run(scenario)
    assert heard == [("n1", "reload", "n1#1")] * 2


def test_a_signal_without_a_handler_does_what_the_kernel_does() -> None:
    async def scenario(loop: SimLoop) -> None:
        process = loop.spawn("n0", lambda: asyncio.sleep(100))
        await asyncio.sleep(1)
        loop.deliver(process, signal.SIGCHLD)
        assert not process.dead
        loop.deliver(process, signal.SIGSTOP)
        paused = process.paused
        loop.deliver(process, signal.SIGCONT)
        assert (paused, process.paused) == (True, False)
        loop.deliver(process, signal.SIGTERM)
        assert await process.ended == -signal.SIGTERM

    run(scenario)


def test_signal_handlers_fail_as_asyncios_do() -> None:
    async def scenario(loop: SimLoop) -> None:
        with pytest.raises(RuntimeError, match="cannot be caught"):
            loop.add_signal_handler(signal.SIGKILL, print)
        with pytest.raises(TypeError, match="coroutines"):
            loop.add_signal_handler(signal.SIGTERM, asyncio.sleep, 1)
        with pytest.raises(ValueError, match="4242"):
            loop.add_signal_handler(4242, print)
        loop.add_signal_handler(signal.SIGTERM, print)
        assert loop.remove_signal_handler(signal.SIGTERM)
        assert not loop.remove_signal_handler(signal.SIGTERM)

    run(scenario)


def test_a_dead_process_s_generator_is_not_closed_by_whoever_lets_go_of_it() -> None:
    shelf: list[AsyncIterator[int]] = []
    closed: list[str] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("generator")

    async def scenario(loop: SimLoop) -> None:
        async def process() -> None:
            shelf.append(numbers())
            await anext(shelf[0])
            await asyncio.sleep(10)

        first = loop.spawn("n0", process)
        await asyncio.sleep(1)
        loop.kill(first)
        shelf.clear()
        await asyncio.sleep(1)

    run(scenario)
    assert closed == []


def test_a_process_inherits_nothing_from_the_one_that_starts_it() -> None:
    word: ContextVar[str] = ContextVar("word", default="nothing")
    found: list[str] = []

    async def scenario(loop: SimLoop) -> None:
        async def process() -> None:
            found.append(word.get())

        word.set("something")
        await loop.spawn("n0", process).ended

    run(scenario)
    assert found == ["nothing"]
