from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
