"""Readings as sensors make them, and what a device said in their notes."""

from __future__ import annotations

from supernoded.model import Reading, State, Value

LONGEST_NOTE = 160  # characters; ours
GAP = "..."


def make_reading(subject: str, quantity: str, value: Value, unit: str, at: float, note: str = "") -> Reading:
    """One reading; without a value it is UNKNOWN, and `note` is why. `at` is on the scale of `Clock.now`.

    Of a note that is too long the middle is left out: what was asked stands at its head, and the reason at its end.
    """
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=clip_note(note))


def clip_note(note: str) -> str:
    """Its head and its end."""
    half = LONGEST_NOTE // 2 - len(GAP)
    return note if len(note) <= LONGEST_NOTE else f"{note[:half]}{GAP}{note[-half:]}"


def quote(text: str) -> str:
    """What a device said, fit for a note: marked as its own words, and so short that there is room for ours."""
    return repr(text if len(text) <= LONGEST_NOTE // 2 else f"{text[: LONGEST_NOTE // 2]}{GAP}")
