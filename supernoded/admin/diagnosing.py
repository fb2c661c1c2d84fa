"""What belongs to a subject, and in which order it is looked at: from the hardware up (L15)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from supernoded.admin.linking import LANE
from supernoded.house import House
from supernoded.messages import Diagnosed
from supernoded.model import Incident, Reading, Verdict
from supernoded.topology import Topology

# A trouble of an early family explains those of a later one.
FAMILIES = ("card", "link", "nic", "bmc", "switch", "ring", "comm", "host", "rank", "job")
_OWN_THINGS = ("cable/", "switch/")


def diagnose(house: House, subject: str) -> Diagnosed | None:
    """What is known of a subject; None when nothing is."""
    site = house.settings.topology
    related = find_related(subject, site)
    verdicts = order_verdicts(house.last_words(), subject, related)
    readings = choose_readings(house.readings(), subject)
    incidents = choose_incidents(house.incidents, subject, related)
    if not verdicts and not readings and not incidents and subject not in site.subjects():
        return None
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
