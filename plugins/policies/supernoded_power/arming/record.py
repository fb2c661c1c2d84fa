"""How often a PDU has shed within the hour, by its own record: one that outlives this daemon, and whoever arms it next. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import State, View

EVENT, COUNT, AGE = "pdu.event", "pdu.event_count", "pdu.event_age"
HOUR = 3600.0
WATCHES = dict.fromkeys((EVENT, COUNT, AGE), HOUR)


def count_firings(seen: View, pdu: str) -> int | None:
    """The most that its record leaves room for, before we looked and between two looks; None when it cannot be read now."""
    counts = [
        sum(_list_most(seen, pdu, source))
        for source in seen.sources(COUNT, pdu)
        if seen.number(COUNT, pdu, source) is not None and seen.text(EVENT, pdu, source) is not None
    ]
    return max(counts, default=None)


def _list_most(seen: View, pdu: str, source: str) -> Iterator[int]:
    """Of each look within the hour, how often it may have fired since the one before."""
    if (seen.number(AGE, pdu, source) or 0.0) >= HOUR:
        return
    words = {one.at: one.value for one in seen.window(EVENT, pdu, source) if one.state is State.GOOD}
    looks = [one for one in seen.window(COUNT, pdu, source) if one.state is State.GOOD and one.at in words]
    before: float | None = None
    for look in looks:
        count = float(look.value) if isinstance(look.value, int | float) else 0.0
        if before is None:
            events = count if _has_just_fired(seen, pdu, source, look.at) else 0.0
        else:
            events = count - before if count >= before else count  # it has started anew in between
        before = count
        yield _bound(int(events), fired_last=words[look.at] == "fired")


def _bound(events: int, *, fired_last: bool) -> int:
    """How many of so many events may be firings: after each comes another event, a restore at the least."""
    return (events + 1) // 2 if fired_last else events // 2


def _has_just_fired(seen: View, pdu: str, source: str, at: float) -> bool:
    """Whether, as it told at the first look, its newest firing was within what is now the last hour. What it does not tell may be."""
    told = next((one for one in seen.window(AGE, pdu, source) if one.at == at and one.state is State.GOOD), None)
    return told is None or not isinstance(told.value, int | float) or told.value + seen.now - at < HOUR
