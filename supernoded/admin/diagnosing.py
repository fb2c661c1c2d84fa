"""What belongs to a subject, and in which order it is looked at: from the hardware up (L15)."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator
from itertools import takewhile

from supernoded.admin.linking import LANE
from supernoded.errors import NotFoundError
from supernoded.house import House
from supernoded.messages import Diagnosed
from supernoded.model import Incident, Reading, Verdict
from supernoded.topology import Topology

# A trouble of an early family explains those of a later one.
FAMILIES = ("card", "link", "nic", "bmc", "switch", "ring", "comm", "host", "rank", "job")
_OWN_THINGS = ("cable/", "switch/")
MOST_COMPARED = 1000  # names that a misspelt one is held against (ours)


def diagnose(house: House, subject: str) -> Diagnosed:
    """What is known of a subject. Raises NotFoundError when nothing is of itself, however much of what its name stands below."""
    site = house.settings.topology
    related = find_related(subject, site)
    verdicts = order_verdicts(house.last_words(), subject, related)
    readings = choose_readings(house.readings(), subject)
    incidents = choose_incidents(house.incidents, subject, related)
    told = [*(verdict.subject for verdict in verdicts), *(one for incident in incidents for one in _list_subjects(incident))]
    if not readings and not is_described(subject, site) and not any(_is_in(one, subject) for one in told):
        heard = (*(verdict.subject for verdict in house.last_words()), *(reading.subject for reading in house.readings()))
        raise NotFoundError(say_unknown(subject, {*site.subjects(), *heard}))
    return Diagnosed(
        now=house.clock.now(),
        subject=subject,
        related=related[1:],
        verdicts=verdicts,
        causes=house.explain([subject]),
        readings=readings,
        incidents=incidents,
        holds=house.holds.of(subject),
    )


def is_described(subject: str, topology: Topology) -> bool:
    """Whether the topology has it: a thing, a lane of a port, a cable, a ring."""
    named = (*(cable.subject for cable in topology.cables), *(f"ring/{ring.name}" for ring in topology.rings))
    return LANE.sub("", subject) in topology.subjects() or subject in named


def say_unknown(subject: str, known: Collection[str]) -> str:
    """That nothing is known of it, and what was perhaps meant: of those that begin alike, or end alike, the nearest."""
    head, _, rest = subject.partition("/")
    begin = [one for one in known if one.partition("/")[0] == head]
    alike = begin or [one for one in known if one.partition("/")[2] == rest] or known
    nearest = sorted(alike, key=lambda one: (-_count_alike(one, subject), one))[:MOST_COMPARED]
    near = difflib.get_close_matches(subject, nearest, n=1)
    remedy = f"did you mean {near[0]}?" if near else "`supernodectl links` and `supernodectl readings` list what is"
    return f"nothing is known of {subject!r}; {remedy}"


def _count_alike(one: str, other: str) -> int:
    """Characters with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def find_related(subject: str, topology: Topology) -> tuple[str, ...]:
    """The subject, the other end of its cable, the cable, the card and node above it, and the rings that it is in; of a lane its port's."""
    port = LANE.sub("", subject)
    found = [subject, *(find_related(port, topology) if port != subject else ()), topology.peer(subject)]
    found += [thing for thing in topology.shared(subject) if thing.startswith(_OWN_THINGS) or subject.startswith(f"{thing}/")]
    found += [end for cable in topology.cables if cable.subject == subject for end in (cable.a, cable.b)]
    found += [f"ring/{ring.name}" for ring in topology.rings if any(_is_in(subject, member) for member in ring.order)]
    found.append(subject.partition("/")[0])
    return tuple(dict.fromkeys(thing for thing in found if thing))


def _is_in(subject: str, thing: str) -> bool:
    return subject == thing or subject.startswith(f"{thing}/")


def order_verdicts(verdicts: Iterable[Verdict], subject: str, related: Collection[str]) -> tuple[Verdict, ...]:
    """What is said of the subject, of its parts and of what is related to it, from the hardware up."""
    told = (verdict for verdict in verdicts if _is_in(verdict.subject, subject) or verdict.subject in related)
    return tuple(sorted(told, key=lambda verdict: (_place(verdict.kind), verdict.subject != subject, verdict.subject, verdict.kind)))


def _place(kind: str) -> int:
    family = kind.partition(".")[0]
    return FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)


def choose_readings(readings: Iterable[Reading], subject: str) -> tuple[Reading, ...]:
    """Those of the subject and of its parts."""
    return tuple(reading for reading in readings if _is_in(reading.subject, subject))


def choose_incidents(incidents: Iterable[Incident], subject: str, related: Collection[str]) -> tuple[Incident, ...]:
    """The open ones of the subject, of its parts, and of what is related to it."""
    return tuple(incident for incident in incidents if any(_is_in(s, subject) or s in related for s in _list_subjects(incident)))


def _list_subjects(incident: Incident) -> Iterator[str]:
    yield incident.subject
    yield from incident.members
