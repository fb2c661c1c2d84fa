"""How much may be taken out of service: what is asked, against what is out, what was granted, and what has tripped. Pure.

A breaker counts subjects, cards and nodes alike. What people hold is not counted. One that would be passed trips, and from then on
nothing is granted until a person resets it; all that protects goes on (safety rules 28 and 29).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from supernoded.model import Hold
from supernoded.settings import Breakers

HOUR = 3600.0  # seconds; the window of `per_hour`
LINGER = 60.0  # seconds for which a grant that has run out still counts: the hold it was for may be told late (ours)
MOST_GIVEN = 1_000  # grants that are kept: one subject may be granted again and again, each time for another incident (ours)
BREAKERS = ("cards_out", "nodes_out", "per_cause", "per_hour")
_OPERATOR = "operator "  # how the owner of a hold that a person placed begins


class Want(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to take out, and why. One grant covers all take-outs of one subject for one incident."""

    subject: str
    cause: str  # in a word, what `per_cause` counts
    incident: str
    owner: str  # the policy
    kind: str = ""  # of the action that wants it first


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """One grant that was given. Times are by the clock of the fleet's holder."""

    subject: str
    cause: str
    incident: str
    at: float
    until: float


class Granted(msgspec.Struct, frozen=True):
    """It may be taken out until then."""

    taken: Taken


class Refused(msgspec.Struct, frozen=True):
    """It may not, and why; `trips` = the breaker that this trips."""

    text: str
    trips: str = ""


def decide(
    want: Want, holds: Iterable[Hold], given: Sequence[Taken], tripped: Mapping[str, str], settings: Breakers, now: float
) -> Granted | Refused:
    """Whether this may be taken out. `given` = all grants that `prune` leaves, `tripped` = breaker -> why it has tripped."""
    again = next((one for one in given if _is_for(one, want) and one.until > now), None)
    if again is not None:
        return Granted(again)
    for name, why in tripped.items():
        return Refused(f"breaker {name} has tripped ({why}); when the cause is known: `supernodectl breakers reset {name} --reason TEXT`")
    if len(given) >= MOST_GIVEN:
        return Refused(f"{len(given)} grants were given lately, at most {MOST_GIVEN} are kept: see which policy asks so often")
    counted = [hold for hold in holds if not hold.owner.startswith(_OPERATOR)]
    for name, among in _list_counts(want, counted, given, settings, now):
        limit = getattr(settings, name)
        if want.subject not in among and len(among) >= limit:
            text = f"{want.subject} would be one more {_WORDS[name].format(want=want, window=settings.window_s)}; "
            there = f"there are {len(among)} ({_name_some(among)}), the limit is {limit} (breakers.{name})"
            return Refused(text + there, trips=name if limit else "")  # what the settings rule out altogether has not tripped
    return Granted(Taken(subject=want.subject, cause=want.cause, incident=want.incident, at=now, until=now + settings.grant_s))


def prune(given: Iterable[Taken], settings: Breakers, now: float) -> list[Taken]:
    """The grants that still count for anything, the oldest first."""
    longest = max(settings.window_s, HOUR)
    return sorted((one for one in given if now - one.at < longest or one.until + LINGER > now), key=lambda one: (one.at, one.subject))


def add(given: Iterable[Taken], taken: Taken) -> list[Taken]:
    """With one more; the same one twice is one."""
    return [*(one for one in given if one != taken), taken]


def count(holds: Iterable[Hold], given: Sequence[Taken], settings: Breakers, now: float) -> Mapping[str, tuple[str, ...]]:
    """Each breaker and the subjects that count for it now; for `per_cause` those of the cause that has most."""
    counted = [hold for hold in holds if not hold.owner.startswith(_OPERATOR)]
    causes = sorted({hold.cause for hold in counted} | {one.cause for one in given}) or [""]
    found: dict[str, tuple[str, ...]] = {}
    for cause in causes:
        for subject in ("n/card", "n"):  # a card, and a node
            want = Want(subject=subject, cause=cause, incident="", owner="")
            for name, subjects in _list_counts(want, counted, given, settings, now):
                found[name] = max(found.get(name, ()), tuple(sorted(subjects)), key=len)
    return found


def is_node(subject: str) -> bool:
    """Whether a subject is a whole node."""
    return "/" not in subject


_WORDS = {
    "cards_out": "card out of service at once",
    "nodes_out": "node out of service at once",
    "per_cause": "taken out for cause {want.cause!r} within {window:g} s",
    "per_hour": "taken out within an hour",
}


def _list_counts(
    want: Want, holds: Sequence[Hold], given: Sequence[Taken], settings: Breakers, now: float
) -> list[tuple[str, frozenset[str]]]:
    """Each breaker that this concerns, and the subjects that count for it now."""
    out = {hold.subject for hold in holds if hold.stands(now)} | {one.subject for one in given if one.until + LINGER > now}
    alike = frozenset(subject for subject in out if is_node(subject) == is_node(want.subject))
    of_cause = {hold.subject for hold in holds if hold.cause == want.cause and now - hold.placed < settings.window_s}
    of_cause |= {one.subject for one in given if one.cause == want.cause and now - one.at < settings.window_s}
    lately = {hold.subject for hold in holds if now - hold.placed < HOUR} | {one.subject for one in given if now - one.at < HOUR}
    at_once = "nodes_out" if is_node(want.subject) else "cards_out"
    return [(at_once, alike), ("per_cause", frozenset(of_cause)), ("per_hour", frozenset(lately))]


def _is_for(taken: Taken, want: Want) -> bool:
    return (taken.subject, taken.incident) == (want.subject, want.incident)


def _name_some(subjects: Iterable[str]) -> str:
    names = sorted(subjects)
    return (", ".join(names[:4]) or "none") + (f" and {len(names) - 4} more" if len(names) > 4 else "")
