"""What hangs on the outlets, and what of it may be cut to save energy (safety rules 5 and 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from supernoded.tables import Conflict
from supernoded.topology.site import FAMILIES, Topology

_WILD = re.compile(r"[*?\[]")
_DESCRIBED = re.compile(r"(card|port|outlet)\d*")

# What may never be shed (safety rule 6), as the words that subjects use.
NEVER_SHED = (
    "pump",
    "valve",
    "cdu",
    "plc",
    "leak",
    "bmc",
    "pdu",
    "ups",
    "switch",
    "broker",
    "database",
    "storage",
    "reflex",
    "card",
    "psu",
    "port",
)


def check_outlets(site: Topology) -> Iterator[Conflict]:
    """Loads that are not there, may never be shed, or would be shed by one cord only."""
    known = _group_subjects(site.subjects())
    fixed = _group_subjects(outlet.load for pdu in site.pdus for outlet in pdu.outlets if not outlet.sheddable)
    for index, pdu in enumerate(site.pdus):
        for place, outlet in enumerate(pdu.outlets):
            key = ("pdus", index, "outlets", place)
            if not _feeds_something(outlet.load, known):
                remedy = "name a subject, a pattern over subjects, or aux/<name> for what is not described here"
                yield Conflict(key=(*key, "load"), fault="feeds nothing that is known", remedy=remedy)
            elif outlet.sheddable and (vital := _find_vital(outlet.load, known)):
                remedy = "only what the site can do without may be shed: take sheddable away, or name the fans alone"
                yield Conflict(key=(*key, "load"), fault=f"may never be shed, it can mean {vital} (safety rule 6)", remedy=remedy)
            elif outlet.sheddable and (other := _find_overlap(outlet.load, fixed)):
                remedy = "a shed opens every cord of its load: mark all of its outlets, or none"
                yield Conflict(key=(*key, "sheddable"), fault=f"an outlet of {other} feeds it too and is not sheddable", remedy=remedy)


def _group_subjects(subjects: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Subjects by their first part, so that a pattern under one node is held against that node alone."""
    groups: dict[str, list[str]] = {}
    for subject in subjects:
        groups.setdefault(subject.partition("/")[0], []).append(subject)
    return groups


def _match(pattern: str, known: Mapping[str, Sequence[str]]) -> str:
    """The first known subject that a pattern means, empty when none."""
    first = pattern.partition("/")[0]
    groups = known.values() if _WILD.search(first) else (known.get(first, ()),)
    return next((subject for group in groups for subject in group if fnmatchcase(subject, pattern)), "")


def _find_overlap(load: str, others: Mapping[str, Sequence[str]]) -> str:
    """Another load that means some of the same, empty when none."""
    wider = (other for other in others.get(load.partition("/")[0], ()) if fnmatchcase(load, other))
    return _match(load, others) or next(wider, "")


def _feeds_something(load: str, known: Mapping[str, Sequence[str]]) -> bool:
    head, _, leaf = load.rpartition("/")
    if (head == "aux" and leaf) or _match(load, known):
        return True
    return bool(leaf) and not _DESCRIBED.fullmatch(leaf) and bool(_match(head, known))


def _find_vital(load: str, known: Mapping[str, Sequence[str]]) -> str:
    """What a load would take down with it that must never be shed; empty when nothing."""
    first, *parts = load.lower().split("/")
    segments = [*parts, first] if first in FAMILIES else parts
    wild = _WILD.search(parts[-1]) if parts else None
    stem = parts[-1][: wild.start()] if wild else None
    for word in NEVER_SHED:
        if any(word in segment for segment in segments) or (stem is not None and word.startswith(stem)):
            return f"a {word}"
    return _match(load, known)
