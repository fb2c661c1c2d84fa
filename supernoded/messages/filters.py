"""What may be asked for: each filter is the query string of a path."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated

import msgspec

from supernoded.model import Reading, State

Limit = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Days = Annotated[float, msgspec.Meta(gt=0, le=366)]


class Filter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A query string; empty texts match everything."""


class ReadingFilter(Filter, frozen=True, kw_only=True):
    """`subject` and `quantity` are shell patterns. With `history` all that is in memory, else the newest of each."""

    subject: str = ""
    quantity: str = ""
    state: State | None = None
    history: bool = False
    limit: Limit = 5_000

    def admits(self, reading: Reading) -> bool:
        """Whether this reading is asked for."""
        return (
            fnmatchcase(reading.subject, self.subject or "*")
            and fnmatchcase(reading.quantity, self.quantity or "*")
            and self.state in (None, reading.state)
        )


class IncidentFilter(Filter, frozen=True, kw_only=True):
    """Open incidents, or with `all` closed ones too."""

    all: bool = False
    subject: str = ""
    limit: Limit = 200


class EventFilter(Filter, frozen=True, kw_only=True):
    """Events of an incident or of the subjects that match a shell pattern."""

    incident: str = ""
    subject: str = ""
    limit: Limit = 200


class ActionFilter(Filter, frozen=True, kw_only=True):
    """Actions of an incident, of a policy, or on the targets that match a shell pattern."""

    incident: str = ""
    policy: str = ""
    target: str = ""
    limit: Limit = 200


class RehearsalFilter(Filter, frozen=True, kw_only=True):
    """Whose rehearsals, and how far back (safety rule 3: 7 days)."""

    policy: str
    days: Days = 7.0


class SubjectFilter(Filter, frozen=True, kw_only=True):
    """One subject, by its whole name."""

    subject: Annotated[str, msgspec.Meta(min_length=1)]


class TimelineFilter(Filter, frozen=True, kw_only=True):
    """Whose timeline; empty = the newest incident of power."""

    incident: str = ""
