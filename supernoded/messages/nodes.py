"""`nodes` and `breakers`: who beats, and how much is out of service."""

from __future__ import annotations

from typing import Annotated

import msgspec

from supernoded.messages.answers import Answer


class NodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One node. None and empty = not known. Ages and offsets are in seconds."""

    name: str
    state: str  # up, late, gone, daemon gone, unknown
    text: str = ""  # what is wrong with it
    beat_age: float | None = None  # when this was told
    life: str = ""
    version: str = ""
    said: str = ""  # what its daemon says of itself: starting, up, degraded
    power: float | None = None  # watts of its cards
    hottest: float | None = None  # degrees Celsius of the hottest die
    step: int | None = None  # of the training job
    clock_offset: float | None = None  # its clock minus that of the role's holder
    roles: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()  # a sentence each: the node's own and those of its cards


class Nodes(Answer, frozen=True, kw_only=True):
    """Every node of the topology, by the word of `told_by`, the holder of the role `fleet`, which is `told_age` seconds old."""

    nodes: tuple[NodeRow, ...] = ()
    told_by: str = ""  # empty = nobody: only this daemon's own knowledge is shown
    told_age: float | None = None
    trouble: str = ""  # why nodes are not known, or not judged
    strangers: tuple[str, ...] = ()  # beat and are not in the topology; only the holder itself knows


class BreakerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One breaker. `subjects` are what it counts now; of `per_cause` those of the cause that has most."""

    name: str
    limit: int
    subjects: tuple[str, ...] = ()
    tripped: bool = False
    since: float | None = None
    text: str = ""  # why it has tripped


class GrantRow(msgspec.Struct, frozen=True, kw_only=True):
    """One grant that still counts."""

    subject: str
    cause: str
    incident: str
    at: float
    until: float


class Breakers(Answer, frozen=True, kw_only=True):
    """How much is out of service, of what may be. `trouble` says why nothing is granted now, apart from breakers."""

    holder: str
    trouble: str = ""
    breakers: tuple[BreakerRow, ...] = ()
    grants: tuple[GrantRow, ...] = ()


class BreakerReset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person's word that the cause is known and a breaker may be closed again."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class BreakerWasReset(Answer, frozen=True, kw_only=True):
    """The breaker is closed again; `text` is why it had tripped."""

    name: str
    since: float
    text: str
    by: str
