"""What was seen and done about an incident, in the order of time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from supernoded.messages import Deed, Moment
from supernoded.model import Event, Incident, Reading, State

OUTAGE = "power.outage"
_RANK = {"seen": 0, "raised": 1, "cleared": 1, "ordered": 2}  # of the same moment


def choose_incident(incidents: Iterable[Incident]) -> Incident | None:
    """The newest; an outage goes before what it brought with it."""
    newest = sorted(incidents, key=lambda one: -one.opened)
    outage = next((one for one in newest if one.kind == OUTAGE), None)
    if outage is not None and (outage.closed is None or outage.closed >= newest[0].opened):
        return outage
    return newest[0] if newest else None


def tell_timeline(events: Iterable[Event], deeds: Iterable[Deed], readings: Iterable[Reading], since: float) -> tuple[Moment, ...]:
    """The moments of events, actions and of readings that turned since then; earlier readings say from what."""
    turns = (moment for moment in _tell_turns(readings) if moment.at >= since)
    moments = [*_tell_events(events), *(moment for deed in deeds for moment in _tell_deed(deed)), *turns]
    return tuple(sorted(moments, key=lambda moment: (moment.at, _RANK.get(moment.what, 3), moment.subject)))


def _tell_events(events: Iterable[Event]) -> Iterator[Moment]:
    for event in events:
        yield Moment(at=event.at, what="raised" if event.raised else "cleared", subject=event.subject, text=event.text)


def _tell_deed(deed: Deed) -> Iterator[Moment]:
    action, step = deed.action, deed.action.step
    yield Moment(
        at=action.issued, what="rehearsed" if deed.rehearsed else "ordered", subject=step.target, text=f"{step.kind}: {step.reason}"
    )
    if deed.outcome is not None and not deed.rehearsed:
        yield Moment(at=deed.outcome.at, what=deed.outcome.result.value, subject=step.target, text=f"{step.kind}: {deed.outcome.text}")


def _tell_turns(readings: Iterable[Reading]) -> Iterator[Moment]:
    """Each series tells what it turned to; the first reading of each says from what."""
    last: dict[tuple[str, str, str], str] = {}
    for reading in sorted(readings, key=lambda reading: reading.at):
        key, value = (reading.subject, reading.quantity, reading.source), _say(reading)
        if key in last and last[key] != value:
            yield Moment(at=reading.at, what="seen", subject=reading.subject, text=f"{reading.quantity}: {last[key]} -> {value}")
        last[key] = value


def _say(reading: Reading) -> str:
    if reading.state is not State.GOOD:
        return str(reading.state.value)
    if isinstance(reading.value, frozenset):
        return " ".join(sorted(reading.value)) or "(none)"
    return f"{reading.value:g}" if isinstance(reading.value, int | float) else str(reading.value)
