"""One look at a ring for all who judge it at one instant: the rules of its links are asked together, and see the same."""

from __future__ import annotations

from collections.abc import Collection

from supernoded.plugin import Node, View
from supernoded_ring.picture import Picture, look_at
from supernoded_ring.plan import Plan
from supernoded_ring.settings import RingSettings
from supernoded_ring.verify import Report, verify


class Lookout:
    """Looks at one ring, and keeps what it saw until time has passed, or one who saw it asks again: then there may be news."""

    def __init__(self, plan: Plan, node: Node, settings: RingSettings, foreign: Collection[str] = ()) -> None:
        self.subject = plan.subject
        self._plan, self._node, self._settle, self._foreign = plan, node, settings.settle_s, foreign
        self._seen_by: set[str] = set()
        self._seen: tuple[float, Picture, Report] | None = None

    def look(self, seen: View, asker: str) -> tuple[Picture, Report]:
        """What is seen of the ring, and what the links make of it."""
        if self._seen is None or self._seen[0] != seen.now or asker in self._seen_by:
            picture = look_at(self._plan, seen, self._node, self._settle, self._foreign)
            self._seen = seen.now, picture, verify([picture.plan], picture.mates)
            self._seen_by.clear()
        self._seen_by.add(asker)
        return self._seen[1], self._seen[2]
