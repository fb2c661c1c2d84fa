"""Questions to a view that rules and remedies ask, over all the sources of a quantity. Pure."""

from __future__ import annotations

from supernoded.history import View
from supernoded.model import State


def list_numbers(seen: View, quantity: str, subject: str) -> list[float]:
    """What each source that is fresh and GOOD reads, in the order of their names."""
    readings = (one for one in seen.told(quantity, subject).values() if one.state is State.GOOD)
    return [one.value for one in readings if isinstance(one.value, int | float)]


def find_least(seen: View, quantity: str, subject: str) -> float | None:
    """The least that any source reads; None when none is GOOD."""
    return min(list_numbers(seen, quantity, subject), default=None)


def find_most(seen: View, quantity: str, subject: str) -> float | None:
    """The most that any source reads; None when none is GOOD."""
    return max(list_numbers(seen, quantity, subject), default=None)


def list_words(seen: View, quantity: str, subject: str) -> frozenset[str]:
    """The texts that its sources say now."""
    words = (seen.text(quantity, subject, source) for source in seen.sources(quantity, subject))
    return frozenset(word for word in words if word is not None)


def is_read(seen: View, quantity: str, subject: str) -> bool:
    """Whether anybody has ever read it."""
    return bool(seen.sources(quantity, subject))


def say_why(seen: View, quantity: str, subject: str) -> str:
    """Why a quantity of a subject tells nothing, for `unseen`."""
    newest = seen.newest(quantity, subject)
    if newest is None:
        return f"{quantity} of {subject}: never read"
    return f"{quantity} of {subject}: {newest.note or newest.state.value}"
