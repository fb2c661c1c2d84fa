"""Questions to one device that fails, at once or after a long wait."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from supernoded.plugin import Reading, State, WireError, make_reading
from supernoded.testing import ManualClock
from supernoded_ascend.questions import Question, Questioner


def parse(text: str, at: float, subject: str) -> list[Reading]:
    return [make_reading(subject, "x.test.said", text, "text", at)]


ASKED = [("n0/a", Question(("one",), parse, "x.test.said", "text")), ("n0/a", Question(("two",), parse, "x.test.said", "text"))]


class Device:
    """Takes its time, and fails if `trouble`."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock, self.seconds, self.trouble = clock, 0.0, ""
        self.asked: list[str] = []

    async def run(self, words: Sequence[str]) -> str:
        self.asked.append(words[0])
        await self.clock.advance(self.seconds)
        if self.trouble:
            raise WireError(self.trouble)
        return words[0]


@pytest.mark.parametrize(("seconds", "rests"), [(0.1, False), (4.0, True)])
async def test_a_device_that_kept_others_waiting_is_left_alone_for_a_while(
    seconds: float, rests: bool, supernoded_clock: ManualClock
) -> None:
    device, questioner = Device(supernoded_clock), Questioner(supernoded_clock)
    found, trouble = await questioner.ask("a", device.run, ASKED)
    assert ([one.value for one in found], trouble, device.asked) == (["one", "two"], None, ["one", "two"])
    device.seconds, device.trouble = seconds, "stuck"
    for turn in range(3):
        device.asked.clear()
        found, trouble = await questioner.ask("a", device.run, ASKED)
        assert [(one.state, one.note) for one in found] == [(State.UNKNOWN, "stuck")] * 2
        assert str(trouble) == "stuck"
        assert device.asked == (["one", "two"] if not rests else [] if turn else ["one"])
    await supernoded_clock.advance(31.0)
    device.seconds, device.trouble = 0.0, ""
    found, trouble = await questioner.ask("a", device.run, ASKED)
    assert ([one.value for one in found], trouble) == (["one", "two"], None)


async def test_a_device_that_is_slow_and_answers_is_asked_on(supernoded_clock: ManualClock) -> None:
    device, questioner = Device(supernoded_clock), Questioner(supernoded_clock)
    device.seconds = 3.0
    for _ in range(2):
        found, _trouble = await questioner.ask("a", device.run, ASKED)
        assert [one.at for one in found] == [supernoded_clock.now() - 3.0, supernoded_clock.now()]
    assert device.asked == ["one", "two"] * 2


async def test_the_same_answer_is_understood_once_and_read_anew(supernoded_clock: ManualClock) -> None:
    device, questioner, parsed = Device(supernoded_clock), Questioner(supernoded_clock), list[str]()

    def count(text: str, at: float, subject: str) -> list[Reading]:
        parsed.append(text)
        return parse(text, at, subject)

    asked = [("n0/a", Question(("one",), count, "x.test.said", "text"))]
    device.seconds = 1.0
    for trouble in ("", "stuck", ""):
        device.trouble = trouble
        found, _ = await questioner.ask("a", device.run, asked)
        assert [(one.value, one.at, one.note) for one in found] == [(None if trouble else "one", supernoded_clock.now(), trouble)]
    assert parsed == ["one"]
