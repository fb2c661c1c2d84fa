"""Which redundancy of the rack the faults of a plan spend, and whether some is spent that the scenario keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from supernoded.chaos.catalogue import RackView, Redundancy, suggest
from supernoded.chaos.grammar import Limits
from supernoded.chaos.scope import MisfitError

Span = tuple[str, float, float]  # a subject that is out of service, from when to when


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Members of one redundant group that are out of service at once, at the worst."""

    name: str
    text: str
    out: tuple[str, ...]
    left: int
    least: int

    def __str__(self) -> str:
        """One sentence."""
        return f"{self.name}, {self.text}: {', '.join(self.out)} out at once, {self.left} left, at least {self.least} needed"


def find_spent(view: RackView, spans: Sequence[Span]) -> tuple[Spent, ...]:
    """Every group that the faults touch, at its worst moment."""
    found = []
    for name, groups in sorted(view.redundancy.items()):
        for group in groups:
            out = _find_worst(group, spans)
            if out:
                left = len(group.members) - len(out)
                found.append(Spent(name=name, text=group.text or ", ".join(group.members), out=out, left=left, least=group.least))
    return tuple(found)


def check_limits(limits: Limits, view: RackView, subjects: Iterable[str], spent: Sequence[Spent]) -> None:
    """Raises MisfitError when the faults hit more than the scenario allows itself."""
    nodes = dict.fromkeys(node for subject in subjects for node in view.find_nodes(subject))
    everything = len(view.subjects.get("node", ()))
    percent = 100.0 * len(nodes) / everything if everything else 0.0
    if limits.max_nodes is not None and len(nodes) > limits.max_nodes:
        raise MisfitError(("limits", "max_nodes"), limits.max_nodes, f"{len(nodes)} nodes are hit: {', '.join(nodes)}", "pick fewer")
    if limits.max_percent is not None and percent > limits.max_percent:
        raise MisfitError(("limits", "max_percent"), limits.max_percent, f"{percent:.3g} % of {everything} nodes are hit", "pick fewer")
    for place, name in enumerate(limits.keep):
        if name not in view.redundancy:
            raise MisfitError(
                ("limits", "keep", place), name, "the rack has no such redundancy", suggest(name, view.redundancy, "redundancies")
            )
        for one in spent:
            if one.name == name and one.left < one.least:
                raise MisfitError(("limits", "keep", place), name, str(one), "hit fewer at once, or keep less")


def _find_worst(group: Redundancy, spans: Sequence[Span]) -> tuple[str, ...]:
    hit = [(member, start, end) for subject, start, end in spans for member in group.members if _covers(subject, member)]
    moments = sorted({start for _, start, _ in hit})
    at_once = [tuple(dict.fromkeys(member for member, start, end in hit if start <= moment < end)) for moment in moments]
    return max(at_once, key=len, default=())


def _covers(subject: str, member: str) -> bool:
    """A fault of a thing is one of what is below it too."""
    return member == subject or member.startswith(f"{subject}/")
