from __future__ import annotations

import asyncio
import itertools
import logging

import pytest

from supernoded.errors import FencedError, WireError
from supernoded.supervisor import LONGEST_PAUSE, SETTLED, HungError, bounded, describe, keep
from tests.unit.worlds import LoopClock, health, run


def test_keep_restarts_with_growing_pauses_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def main() -> list[float]:
        table, began = health(), list[float]()

        async def work() -> None:
            began.append(asyncio.get_running_loop().time())
            if len(began) < 4:
                raise ValueError("broken")
            await asyncio.sleep(SETTLED + 1)

        await keep("part", work, LoopClock(), table)
        assert table.conditions() == []
        return began

    began = run(main())
    pauses = [b - a for a, b in itertools.pairwise(began)]
    assert len(pauses) == 3
    assert 1.0 <= pauses[0] < pauses[1] < pauses[2] <= LONGEST_PAUSE
    assert [r.getMessage() for r in caplog.records] == ["part: restarting after ValueError: broken", "part: well again"]


def test_keep_lets_the_named_errors_through_even_in_a_group() -> None:
    async def fenced() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(_raise(FencedError("gone")))

    async def main() -> None:
        with pytest.raises(ExceptionGroup):
            await keep("part", fenced, LoopClock(), health(), ends_on=(FencedError,))

    run(main())


async def _raise(error: Exception) -> None:
    raise error


def test_a_failing_part_is_in_the_table_while_it_waits() -> None:
    async def main() -> None:
        table = health()
        task = asyncio.ensure_future(keep("part", lambda: _raise(OSError("no")), LoopClock(), table))
        await asyncio.sleep(0.5)
        (condition,) = table.troubles()
        assert condition.text == "restarting after OSError: no"
        assert condition.restarts == 1
        task.cancel()

    run(main())


def test_bounded_gives_the_answer_or_a_wire_error() -> None:
    async def answer() -> int:
        return 7

    async def main() -> None:
        assert await bounded(answer(), 1.0, "it") == 7
        with pytest.raises(WireError, match="it failed: ValueError: bad"):
            await bounded(_raise(ValueError("bad")), 1.0, "it")
        with pytest.raises(WireError, match=r"^own words$"):
            await bounded(_raise(WireError("own words")), 1.0, "it")

    run(main())


def test_bounded_leaves_behind_what_ignores_its_cancellation() -> None:
    async def stubborn() -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with pytest.raises(HungError, match="it gave no answer within 2 s") as hung:
            await bounded(stubborn(), 2.0, "it")
        assert loop.time() == 2.0
        assert not hung.value.task.done()

    run(main())


def test_describe_looks_into_groups() -> None:
    assert describe(ExceptionGroup("many", [KeyError("a"), ValueError("b")])) == "KeyError: 'a'"
    assert describe(ValueError()) == "ValueError"
    assert describe(ValueError("two\n  lines")) == "ValueError: two lines"


async def _cancel_itself() -> None:
    raise asyncio.CancelledError


async def _leave() -> None:
    raise SystemExit(3)


def test_a_cancellation_from_within_is_a_failure_and_ends_nothing() -> None:
    async def main() -> None:
        with pytest.raises(WireError, match="it was cancelled from within"):
            await bounded(_cancel_itself(), 1.0, "it")
        table = health()
        part = asyncio.ensure_future(keep("part", _cancel_itself, LoopClock(), table))
        await asyncio.sleep(10)
        assert not part.done()
        (condition,) = table.troubles()
        assert condition.restarts > 2
        part.cancel()
        await asyncio.wait({part})
        assert part.cancelled()

    run(main())


def test_a_plugin_cannot_end_the_program() -> None:
    async def main() -> None:
        with pytest.raises(WireError, match="it failed: RuntimeError: SystemExit: 3"):
            await bounded(_leave(), 1.0, "it")

    run(main())
