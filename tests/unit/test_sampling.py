from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import WireError
from supernoded.model import NODE, Reading, State
from supernoded.sampling import Sampler, Scale
from tests.unit.worlds import LoopClock, health, reading, run


@dataclass(frozen=True)
class Scripted:
    """A sensor that does what the script says at each read."""

    script: Callable[[int], Sequence[Reading]]
    calls: list[float]
    name: str = "scripted"
    scope: str = NODE
    period: float = 5.0
    timeout: float = 2.0
    delay: float = 0.0
    deaf_until: float = 0.0

    async def read(self) -> Sequence[Reading]:
        loop = asyncio.get_running_loop()
        self.calls.append(loop.time())
        try:
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            await asyncio.sleep(self.deaf_until - loop.time())
        return self.script(len(self.calls))


def sample(sensor: Scripted, seconds: float) -> list[tuple[float, Reading]]:
    taken: list[tuple[float, Reading]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        sampler = Sampler(sensor, LoopClock(), health(), lambda rs, _: taken.extend((loop.time(), r) for r in rs))
        task = asyncio.ensure_future(sampler.run())
        await asyncio.sleep(seconds)
        task.cancel()

    run(main())
    return taken


def test_reads_every_period() -> None:
    sensor = Scripted(lambda n: [reading(float(n))], [])
    taken = sample(sensor, 12)
    assert sensor.calls == [0.0, 5.0, 10.0]
    assert [r.value for _, r in taken] == [1.0, 2.0, 3.0]


def test_what_cannot_be_read_becomes_unknown_with_the_reason() -> None:
    def script(n: int) -> Sequence[Reading]:
        if n == 2:
            raise WireError("the line is dead")
        return [reading(1.0)]

    taken = sample(Scripted(script, []), 11)
    assert [r.state for _, r in taken] == [State.GOOD, State.UNKNOWN, State.GOOD]
    assert taken[1][1].value is None
    assert taken[1][1].note == "the line is dead"


def test_a_plugin_that_raises_anything_is_a_failed_read() -> None:
    def script(n: int) -> Sequence[Reading]:
        if n > 1:
            raise ZeroDivisionError("oops")
        return [reading(1.0)]

    taken = sample(Scripted(script, []), 6)
    assert taken[-1][1].note == "sensor scripted failed: ZeroDivisionError: oops"


def test_a_slow_read_is_given_up_within_its_timeout() -> None:
    calls: list[float] = []
    first = Scripted(lambda _: [reading(1.0)], calls)
    slow = Scripted(lambda _: [reading(1.0)], calls, delay=60.0)
    assert sample(slow, 3) == []  # nothing was ever read, so there is nothing to be unsure of
    assert len(sample(first, 3)) == 1


def test_a_read_that_hangs_is_not_begun_again_and_harms_no_other() -> None:
    hung = Scripted(lambda _: [reading(1.0)], [], delay=60.0, deaf_until=18.0)
    other = Scripted(lambda _: [reading(2.0)], [], name="other")
    states: list[str] = []

    async def main() -> None:
        table = health()
        samplers = [Sampler(s, LoopClock(), table, lambda *_: None) for s in (hung, other)]
        tasks = [asyncio.ensure_future(sampler.run()) for sampler in samplers]
        await asyncio.sleep(14)
        states.extend(c.text for c in table.troubles())
        await asyncio.sleep(12)
        for task in tasks:
            task.cancel()

    run(main())
    assert states == ["the last read still hangs; no new one is begun"]
    assert len(other.calls) == 6
    assert hung.calls[0] == 0.0
    assert hung.calls[1] >= 18.0


def test_what_is_no_longer_reported_becomes_unknown() -> None:
    sensor = Scripted(lambda n: [reading(1.0, subject="a"), *([reading(1.0, subject="b")] if n == 1 else [])], [])
    taken = sample(sensor, 6)
    assert taken[-1][1].subject == "b"
    assert taken[-1][1].state is State.UNKNOWN
    assert taken[-1][1].note == "no longer reported by its source"


def test_implausible_values_are_unknown_and_say_why() -> None:
    scale = Scale()
    (low,) = scale.weigh([reading(-5.0)])
    assert low.state is State.UNKNOWN
    assert "outside" in low.note
    (strange,) = scale.weigh([reading(1.0, quantity="host.laod")])
    assert "not in the vocabulary" in strange.note


def warm(value: float, at: float) -> Reading:
    return reading(value, at, "coolant.supply_temperature", "cdu/0", "C")


def test_a_jump_is_doubted_once_and_believed_when_it_stays() -> None:
    scale = Scale()
    states = [scale.weigh([warm(v, at)])[0].state for at, v in enumerate([22.0, 22.1, 80.0, 22.2, 60.0, 60.1])]
    assert states == [State.GOOD, State.GOOD, State.UNKNOWN, State.GOOD, State.UNKNOWN, State.GOOD]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30))
def test_a_good_reading_is_always_within_the_plausible_range(values: list[float]) -> None:
    scale = Scale()
    for at, value in enumerate(values):
        (weighed,) = scale.weigh([warm(value, float(at))])
        if weighed.state is State.GOOD:
            assert isinstance(weighed.value, float)
            assert -20.0 <= weighed.value <= 110.0
        else:
            assert weighed.value is None
            assert weighed.note


SEVEN: Any = 7  # where it does not belong


@pytest.mark.parametrize("odd", [None, ["warm"], [reading(1.0, subject=SEVEN)], 3])
def test_what_is_no_reading_is_a_failed_read(odd: Any) -> None:
    taken = sample(Scripted(lambda n: [reading(1.0)] if n == 1 else odd, []), 6)
    assert [r.state for _, r in taken] == [State.GOOD, State.UNKNOWN]
    assert taken[-1][1].note.startswith("sensor scripted failed: ")


@pytest.mark.parametrize("at", [math.nan, math.inf, 100.0])
def test_a_reading_from_the_future_is_unknown_or_it_would_stay_fresh(at: float) -> None:
    ((_, only),) = sample(Scripted(lambda _: [reading(1.0, at=at)], []), 3)
    assert (only.state, only.value, only.at) == (State.UNKNOWN, None, 0.0)
    assert "the clock of its source is wrong" in only.note


def test_texts_that_no_json_can_carry_are_made_fit() -> None:
    ((_, only),) = sample(Scripted(lambda _: [reading("\udcff", subject="n0/disk/\udcff", quantity="x.acme.label", unit="text")], []), 3)
    assert msgspec.json.decode(msgspec.json.encode(only), type=Reading) == only


def test_a_text_too_long_to_keep_is_refused_and_not_clipped() -> None:
    ((_, only),) = sample(Scripted(lambda _: [reading("a" * 5_000, quantity="x.acme.label", unit="text")], []), 3)
    assert (only.value, only.note) == (None, "a text of 5000 characters or flags, at most 4000 are taken")


def test_what_is_not_reported_for_a_day_is_forgotten() -> None:
    async def main() -> None:
        taken: list[Reading] = []
        clock = LoopClock()
        sensor = Scripted(lambda n: [reading(float(n), at=clock.now(), subject=f"n0/pod{n}")], [], period=3600.0)
        sampler = Sampler(sensor, clock, health(), lambda rs, _: taken.extend(rs))
        task = asyncio.ensure_future(sampler.run())
        await asyncio.sleep(100 * 3600.0)
        task.cancel()
        newest = [r.subject for r in taken if r.at == taken[-1].at]
        assert len(newest) == 26
        assert "n0/pod1" not in newest

    run(main())
