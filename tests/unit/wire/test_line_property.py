"""Whatever the units do, no exchange returns the bytes of another request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.errors import WireError
from tests.unit.wire.units import Saying, Units, find, frame, make_line, run

WITHIN, LATEST = 0.1, 0.4  # s
T35 = 3.5 * 11 / 19200  # s
DEEDS = st.sampled_from(("prompt", "split", "late", "split late", "garbled", "garbled twice", "twice", "silent", "noise", "long", "cut"))
STEPS = st.lists(st.tuples(DEEDS, st.floats(0.0, 1.0), st.floats(0.0, 1.0)), min_size=2, max_size=12)


def script(deed: str, when: float, gap: float, answer: bytes) -> Sequence[Saying]:
    """What is said. A late answer ends within LATEST; one said twice comes again behind two silences, in a UART's 14 characters."""
    prompt, late = 0.09 * when, WITHIN + when * (LATEST - WITHIN)
    again = prompt + 2 * T35 + gap * 14 * 11 / 19200
    return {
        "prompt": [(prompt, answer)],
        "split": [(prompt, answer[:1]), (prompt + 0.3 * gap, answer[1:])],
        "late": [(late, answer)],
        "split late": [(late - 0.05 * gap, answer[:2]), (late, answer[2:])],
        "garbled": [(prompt, b"\x00" + answer)],
        "garbled twice": [(prompt, answer[:1] + bytes((answer[1] ^ 0x55,)) + answer[2:]), (late, answer)],
        "twice": [(prompt, answer), (again, answer)],
        "silent": [],
        "noise": [(prompt, b"\xff"), (prompt + 0.001, answer)],
        "long": [(prompt, answer + answer)],
        "cut": [(prompt, answer[:3])],
    }[deed]


@given(STEPS)
@settings(max_examples=150, deadline=None)
def test_no_exchange_returns_the_bytes_of_another_request(steps: list[tuple[str, float, float]]) -> None:
    async def story() -> int:
        units = Units(lambda request: script(*steps[request[0]], frame(request[0])))
        line = make_line(units)
        taken = 0
        for number in range(len(steps)):
            try:
                assert await line.exchange(bytes((number,)), find, WITHIN, LATEST) == frame(number)
                taken += 1
            except WireError:
                continue
        return taken

    good = sum(deed in {"prompt", "twice", "long"} for deed, _, _ in steps)
    assert run(story()) >= good


@given(STEPS, st.lists(st.floats(0.0, 0.5), min_size=12, max_size=12))
@settings(max_examples=75, deadline=None)
def test_nor_when_many_ask_at_once_and_some_give_up(steps: list[tuple[str, float, float]], patience: list[float]) -> None:
    async def story() -> None:
        units = Units(lambda request: script(*steps[request[0]], frame(request[0])))
        line = make_line(units)

        async def one(number: int) -> None:
            try:
                async with asyncio.timeout(0.05 + 2 * patience[number]):
                    assert await line.exchange(bytes((number,)), find, WITHIN, LATEST) == frame(number)
            except (WireError, TimeoutError):
                return

        await asyncio.gather(*(one(number) for number in range(len(steps))))

    run(story())
