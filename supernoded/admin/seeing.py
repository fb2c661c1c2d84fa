"""The GOOD readings of each subject, asked by name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from supernoded.model import Reading, State, Value


class Seen:
    """What is known of one subject. What is not GOOD is not known."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values

    def number(self, quantity: str) -> float | None:
        """The value, if it is a number."""
        value = self._values.get(quantity)
        return float(value) if isinstance(value, int | float) else None

    def flag(self, quantity: str) -> bool | None:
        """Whether a number says yes."""
        value = self.number(quantity)
        return None if value is None else value > 0.0

    def text(self, quantity: str) -> str:
        """The value, if it is a text; else empty."""
        value = self._values.get(quantity)
        return value if isinstance(value, str) else ""

    def flags(self, quantity: str) -> tuple[str, ...] | None:
        """The value, if it is a set of flags, sorted."""
        value = self._values.get(quantity)
        return tuple(sorted(value)) if isinstance(value, frozenset) else None


_NOTHING = Seen({})


class Sights:
    """What is known of every subject, by the first source of each quantity that has a GOOD reading."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        known = dict[str, dict[str, Value]]()
        for reading in readings:
            of_subject = known.setdefault(reading.subject, {})
            if reading.state is State.GOOD:
                of_subject.setdefault(reading.quantity, reading.value)
        self._seen = {subject: Seen(values) for subject, values in known.items()}
        self._below = dict[str, list[str]]()
        for subject in known:
            self._below.setdefault(subject.rpartition("/")[0], []).append(subject)

    def of(self, subject: str) -> Seen:
        """What is known of it; nothing where it was never read."""
        return self._seen.get(subject, _NOTHING)

    def subjects(self) -> Iterable[str]:
        """All that was ever read of, GOOD or not."""
        return self._seen

    def below(self, subject: str) -> Iterable[str]:
        """The subjects right below it: fans and cards of a node, pumps of a unit."""
        return self._below.get(subject, ())
