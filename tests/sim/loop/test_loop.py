"""The virtual-time loop: time, turns, executors, failures."""

import asyncio
import contextvars
import gc
import random
import threading
import time
import weakref
from contextvars import Context

import pytest

from sim_hardware.loop import EPOCH, Deadlock, Livelock, Process, SimLoop
from sim_hardware.loop.play import play, virtual_time


def test_time_starts_at_zero_and_jumps_to_the_next_timer() -> None:
    loop = SimLoop(1)
    seen: list[float] = []

    async def main() -> None:
        seen.append(loop.time())
        await asyncio.sleep(86_400)
        seen.append(loop.time())

    play(loop, main())
    assert seen == [0.0, 86_400.0]


def test_the_machines_clock_is_virtual_while_a_run_is_played_and_real_again_afterwards() -> None:
    loop = SimLoop(1)

    async def main() -> tuple[float, float]:
        await asyncio.sleep(1000)
        return time.time(), time.monotonic()

    assert play(loop, main()) == (EPOCH + 1000, 1000)
    assert abs(time.time() - EPOCH - 1000) > 1
    assert time.monotonic() != 1000


def test_chance_that_a_library_draws_comes_from_the_seed_and_leaves_no_trace() -> None:
    async def draw() -> float:
        return random.random()

    random.seed(1)
    first = play(SimLoop(7), draw())
    random.seed(2)
    assert play(SimLoop(7), draw()) == first
    after = random.random()
    random.seed(2)
    assert random.random() == after


def test_timers_that_are_due_together_run_in_the_order_in_which_they_were_made() -> None:
    loop = SimLoop(1)
    ran: list[int] = []

    async def main() -> None:
        for number in range(50):
            loop.call_at(5.0, ran.append, number)
        await asyncio.sleep(6)

    play(loop, main())
    assert ran == list(range(50))


def test_a_deadlock_names_the_tasks_that_wait() -> None:
    loop = SimLoop(1)

    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    async def start() -> None:
        loop.spawn("n0", main)
        await asyncio.create_task(main(), name="the-one-that-waits")

    with pytest.raises(Deadlock, match=r"at 0\.000 s nothing is due; waiting: .*site#0/the-one-that-waits.*n0#1/main"):
        play(loop, start())


def test_a_deadlock_says_who_is_paused() -> None:
    loop = SimLoop(1)

    async def start() -> None:
        process = loop.spawn("n0", lambda: asyncio.sleep(1))
        loop.pause(process)
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Deadlock, match=r"n0#1/main \(paused\)"):
        play(loop, start())


def test_a_busy_wait_is_an_error_and_not_a_hang() -> None:
    async def main() -> None:
        for _ in iter(int, 1):
            await asyncio.sleep(0)

    with pytest.raises(Livelock, match="no time"):
        play(SimLoop(1), main())


def test_streams_of_chance_depend_on_seed_and_name_alone() -> None:
    def draw(seed: int, name: str) -> float:
        loop = SimLoop(seed)
        try:
            return loop.stream(name).random()
        finally:
            loop.close()

    assert draw(7, "a") == draw(7, "a")
    assert len({draw(7, "a"), draw(7, "b"), draw(8, "a")}) == 3


def test_a_stream_goes_on_when_it_is_asked_for_again() -> None:
    loop = SimLoop(7)
    assert loop.stream("a") is loop.stream("a")
    loop.close()


def test_sets_of_tasks_and_futures_have_one_order() -> None:
    def order() -> tuple[list[str], list[int]]:
        loop = SimLoop(1)

        async def main() -> tuple[list[str], list[int]]:
            tasks = [asyncio.create_task(asyncio.sleep(0), name=f"t{number}") for number in range(200)]
            done, _ = await asyncio.wait(tasks)
            futures = [loop.create_future() for _ in range(200)]
            return [task.get_name() for task in done], [futures.index(future) for future in set(futures)]

        return play(loop, main())

    first = order()
    waste = [object() for _ in range(10_000)]
    assert order() == first
    assert waste


def test_an_executor_runs_inline_and_hands_over_result_and_error() -> None:
    loop = SimLoop(1)

    def fail() -> None:
        raise KeyError("k")

    async def main() -> float:
        assert await asyncio.to_thread(lambda: 41 + 1) == 42
        with pytest.raises(KeyError):
            await loop.run_in_executor(None, fail)
        return loop.time()

    assert play(loop, main()) == pytest.approx(4 * loop.executor_delay)


@pytest.mark.parametrize(("at", "worked", "heard"), [(0.0002, 0, 0), (0.0007, 1, 0), (0.002, 1, 1)])
def test_a_crash_may_fall_before_or_behind_an_executors_work(at: float, worked: int, heard: int) -> None:
    loop = SimLoop(1)
    work: list[int] = []
    answers: list[int] = []

    def put() -> int:
        work.append(1)
        return 1

    async def process() -> None:
        answers.append(await loop.run_in_executor(None, put))
        await asyncio.sleep(10)

    async def main() -> None:
        loop.after(at, loop.kill, loop.spawn("n0", process))
        await asyncio.sleep(1)

    play(loop, main())
    assert (len(work), len(answers)) == (worked, heard)


def test_work_of_one_process_in_an_executor_keeps_its_order() -> None:
    loop = SimLoop(1)
    work: list[int] = []

    async def main() -> None:
        await asyncio.gather(*(loop.run_in_executor(None, work.append, number) for number in range(20)))

    play(loop, main())
    assert work == list(range(20))


def test_an_exception_in_a_callback_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    loop = SimLoop(1)

    def fail() -> None:
        raise ZeroDivisionError("here")

    async def process() -> None:
        asyncio.get_running_loop().call_later(2, fail)
        await asyncio.sleep(5)

    async def main() -> None:
        await loop.spawn("n0", process).ended

    play(loop, main())
    (failure,) = loop.failures
    assert (failure.at, failure.process) == (2.0, "n0#1")
    assert isinstance(failure.error, ZeroDivisionError)
    assert "Exception in callback" in caplog.text


def test_a_clean_run_has_no_failures() -> None:
    loop = SimLoop(1)
    play(loop, asyncio.sleep(1))
    assert loop.failures == []


def test_the_digest_covers_entries_and_turns() -> None:
    def run(word: str, turns: int) -> str:
        loop = SimLoop(1)

        async def process() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)

        async def main() -> None:
            loop.trace("scene", word, 1, 2.5, None, b"x")
            await loop.spawn("n0", process).ended

        play(loop, main())
        assert [str(entry) for entry in loop.entries] == [f"0.000000 scene {word} 1 2.5 None b'x'"]
        return loop.digest()

    assert run("a", 3) == run("a", 3)
    assert len({run("a", 3), run("b", 3), run("a", 4)}) == 3


def test_the_name_of_the_folder_of_a_run_counts_for_nothing() -> None:
    def run(folder: str, rest: str = "job.sock") -> str:
        loop = SimLoop(1)
        loop.leave_out(folder)
        loop.trace("n0", f"listens on {folder}/{rest}")
        loop.count(f"unix {folder}/run/{rest}".encode())
        loop.close()
        return loop.digest()

    assert run("/tmp/one") == run("/tmp/another")
    assert run("/tmp/one") != run("/tmp/one", "admin.sock")


def test_a_signature_over_a_text_that_names_the_folder_counts_for_nothing() -> None:
    def run(signature: str, body: str = "done") -> str:
        loop = SimLoop(1)
        loop.leave_out("/tmp/one")
        loop.count(f'{{"body":"{body}","signature":"{signature}"}}'.encode())
        loop.close()
        return loop.digest()

    assert run("pB6+/w==") == run("o3zA1Q==")
    assert run("pB6+/w==") != run("pB6+/w==", "refused")


def test_the_loop_works_with_asyncios_runner() -> None:
    loop = SimLoop(1)

    async def main() -> float:
        loop.kill(loop.spawn("n0", lambda: asyncio.sleep(1000)))
        background = asyncio.create_task(asyncio.sleep(1000))
        await asyncio.sleep(3)
        return loop.time() + background.done()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(main()) == 3.0
    assert loop.is_closed()


def test_an_empty_context_is_a_context_and_does_not_lead_out_of_a_process() -> None:
    loop = SimLoop(1)
    word: contextvars.ContextVar[str] = contextvars.ContextVar("word")
    ran: list[str] = []

    async def process() -> None:
        word.set("inner")
        empty = Context()
        loop.call_later(1, lambda: ran.append(word.get("empty")), context=empty)
        loop.call_later(3, lambda: ran.append("after death"), context=Context())
        await asyncio.sleep(10)

    async def main() -> None:
        loop.after(2, loop.kill, loop.spawn("n0", process))
        await asyncio.sleep(5)

    play(loop, main())
    assert ran == ["empty"]


def test_what_waits_at_the_end_of_a_run_is_cancelled_or_killed() -> None:
    loop = SimLoop(1)
    ends: list[str] = []

    async def wait(name: str) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1)
            ends.append(name)

    async def main() -> Process:
        asyncio.create_task(wait("site")).add_done_callback(lambda _: None)
        process = loop.spawn("n0", lambda: wait("n0"))
        await asyncio.sleep(1)
        return process

    with virtual_time(loop):
        process = loop.run_until_complete(main())
    assert process.exit_code == -9
    assert ends == ["site"]


def test_real_programs_files_and_threads_are_refused_by_name() -> None:
    loop = SimLoop(1)
    complaints: list[str] = []

    def call_in() -> None:
        try:
            loop.call_soon_threadsafe(print)
        except RuntimeError as error:
            complaints.append(str(error))

    async def main() -> None:
        with pytest.raises(RuntimeError, match="real program npu-smi"):
            await asyncio.create_subprocess_exec("npu-smi", "info")
        with pytest.raises(RuntimeError, match="real command ls"):
            await asyncio.create_subprocess_shell("ls")
        with pytest.raises(RuntimeError, match="real file 7"):
            loop.add_reader(7, print)
        thread = threading.Thread(target=call_in)
        thread.start()
        thread.join()

    play(loop, main())
    assert complaints == ["a thread calls into virtual time; give its work to run_in_executor, which runs it inline"]


def test_what_hangs_on_the_end_of_the_world_is_called_once_when_everybody_is_dead() -> None:
    loop, called = SimLoop(1), list[bool]()

    async def forever() -> None:
        await asyncio.get_running_loop().create_future()

    process = loop.spawn("n0", forever)
    loop.on_close.append(lambda: called.append(process.dead))
    loop.run_until_complete(asyncio.sleep(1.0))
    loop.close()
    loop.close()
    assert called == [True]


def test_timers_that_are_cancelled_are_not_kept_till_they_are_due() -> None:
    loop = SimLoop(1)
    ran: list[float] = []

    async def main() -> int:
        timers = [loop.call_at(1e6 + number, ran.append, 0.0) for number in range(1000)]
        loop.call_at(5.0, lambda: ran.append(loop.time()))
        kept = [weakref.ref(timer) for timer in timers]
        for timer in timers:
            timer.cancel()
        del timer, timers
        await asyncio.sleep(10.0)
        return sum(timer() is not None for timer in kept)

    assert play(loop, main()) == 0
    assert ran == [5.0]


def test_what_is_no_garbage_of_a_play_is_left_alone_and_looked_after_again_afterwards() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()

    async def main() -> int:
        return gc.get_freeze_count()

    assert play(SimLoop(1), main()) > before[1]
    assert (gc.get_threshold(), gc.get_freeze_count()) == before
