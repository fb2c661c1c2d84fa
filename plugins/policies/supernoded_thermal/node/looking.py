"""What a view tells about things that go missing, are read twice, or move. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import msgspec

from supernoded.plugin import Level, Severity, State, Verdict, View
from supernoded.plugin import list_numbers as list_fresh

LEAST_FOR_A_SLOPE, LEAST_SPAN = 3, 8.0  # readings, and seconds between the first and the last of them


class Last(msgspec.Struct, frozen=True):
    """A number. `held`: it is not fresh, and still believed."""

    value: float
    held: bool = False


def list_numbers(seen: View, quantity: str, subject: str, since: float, source: str | None = None) -> list[tuple[float, float]]:
    """When, and what was read since then, oldest first, GOOD numbers alone."""
    return [
        (one.at, float(one.value))
        for one in seen.window(quantity, subject, source)
        if one.at >= since and one.state is State.GOOD and isinstance(one.value, int | float)
    ]


def find_latest(seen: View, quantity: str, subject: str, hold: float, source: str | None = None) -> tuple[float, float] | None:
    """When, and what a source read last, if that is a GOOD number and not older than `hold` seconds."""
    last = seen.last_good(quantity, subject, source)
    if last is None or last.at < seen.now - hold or not isinstance(last.value, int | float):
        return None
    return last.at, float(last.value)


def find_last(seen: View, quantity: str, subject: str, hold: float) -> Last | None:
    """The most that any source reads; where none is fresh, the most that one has read within `hold` seconds."""
    fresh = list_fresh(seen, quantity, subject)
    if fresh:
        return Last(max(fresh))
    old = _list_latest(seen, quantity, subject, hold)
    return Last(max(value for _, value in old), held=True) if old else None


def find_newest(seen: View, quantity: str, subject: str, hold: float) -> float | None:
    """What was read last, by whomever, if that is not older than `hold` seconds: one who looks seldom tells of what was."""
    looks = _list_latest(seen, quantity, subject, hold)
    return max(looks)[1] if looks else None


def _list_latest(seen: View, quantity: str, subject: str, hold: float) -> list[tuple[float, float]]:
    """When, and what each source read last."""
    looks = (find_latest(seen, quantity, subject, hold, source) for source in seen.sources(quantity, subject))
    return [look for look in looks if look is not None]


def measure_slope(numbers: Sequence[tuple[float, float]]) -> float | None:
    """Per second, by least squares; None of too few or too short."""
    if len(numbers) < LEAST_FOR_A_SLOPE or numbers[-1][0] - numbers[0][0] < LEAST_SPAN:
        return None
    return _fit(numbers)


def measure_rise(numbers: Sequence[tuple[float, float]]) -> float:
    """Per second, and only what goes on: the lesser of the slope of all and that of the newer half; 0 where there is none."""
    slope = measure_slope(numbers)
    return 0.0 if slope is None else min(slope, _fit(numbers[len(numbers) // 2 :]))


def _fit(numbers: Sequence[tuple[float, float]]) -> float:
    """Least squares."""
    middle, mean = fmean(at for at, _ in numbers), fmean(value for _, value in numbers)
    spread = sum((at - middle) ** 2 for at, _ in numbers)
    return sum((at - middle) * (value - mean) for at, value in numbers) / spread if spread else 0.0


def list_below(seen: View, quantity: str, node: str) -> Iterator[str]:
    """The subjects of a node; lanes belong to their port."""
    return (one for one in seen.subjects(quantity) if one.startswith(f"{node}/") and "/lane" not in one)


def say_why(seen: View, quantity: str, subject: str) -> str:
    """Why a quantity of a subject tells nothing, for `unseen`."""
    newest = seen.newest(quantity, subject)
    if newest is None:
        return f"{quantity} of {subject}: never read"
    return f"{quantity} of {subject}: {newest.note or newest.state.value}"


def say_list(names: Sequence[str], most: int = 4) -> str:
    """The first few of them."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def judge(
    kind: str, subject: str, at: float, level: Level, text: str, severity: Severity = Severity.WARNING, unseen: Sequence[str] = ()
) -> Verdict:
    """A verdict."""
    return Verdict(kind=kind, subject=subject, level=level, text=text, at=at, severity=severity, unseen=tuple(unseen))
