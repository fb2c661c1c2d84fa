"""Sentences about what happened: events, readings, a loop's engagements, requests over the admin socket. Meant for `Journal.post`."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from supernoded.journal.rows import Cell, Entry, clean, insert
from supernoded.journal.tables import engagements, events, readings, requests
from supernoded.model import Event, Reading

_EVENT = insert(events).on_conflict_do_nothing()  # the same edge written twice is one row
_READING = insert(readings)
_ENGAGEMENT = insert(engagements)
_REQUEST = insert(requests)


def record_event(event: Event, origin: str = "") -> Entry:
    """Record an edge; `origin` names the node whose journal this copies."""
    row: dict[str, Cell] = {
        "id": event.id,
        "origin": origin,
        "kind": event.kind,
        "subject": clean(event.subject),
        "scope": event.scope,
        "text": clean(event.text),
        "severity": event.severity.value,
        "incident": event.incident,
        "raised": event.raised,
        "at": event.at,
    }
    return Entry(_EVENT, [row])


def store_readings(news: Iterable[Reading]) -> Entry:
    """Store readings."""
    return Entry(_READING, [_reading_row(reading) for reading in news])


def _reading_row(reading: Reading) -> dict[str, Cell]:
    value = reading.value
    number = float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    return {
        "subject": clean(reading.subject),
        "quantity": reading.quantity,
        "unit": reading.unit,
        "state": reading.state.value,
        "note": clean(reading.note),
        "value": number,
        "words": None if value is None or number is not None else _words(value),
        "at": reading.at,
        "source": reading.source,
    }


def _words(value: float | str | frozenset[str]) -> str:
    """JSON of what is no finite number."""
    if isinstance(value, frozenset):
        return msgspec.json.encode([clean(flag) for flag in sorted(value)]).decode()
    return msgspec.json.encode(clean(str(value))).decode()


def record_engagement(loop: str, scope: str, at: float, what: str, text: str) -> Entry:
    """Record what a loop did: engaged, handed over, or the summary of a minute."""
    return Entry(_ENGAGEMENT, [{"loop": loop, "scope": scope, "at": at, "what": what, "text": clean(text)}])


def record_request(at: float, uid: int, pid: int, verb: str, detail: str, answer: str) -> Entry:
    """Record who asked for what over the admin socket and how it was answered."""
    row: dict[str, Cell] = {"at": at, "uid": uid, "pid": pid, "verb": clean(verb), "detail": clean(detail), "answer": clean(answer)}
    return Entry(_REQUEST, [row])
