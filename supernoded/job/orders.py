"""What a launcher has been told, and what it said to it; said again to one that comes back, until it has an answer."""

from __future__ import annotations

from supernoded.job.protocol import Acted, Order

MOST = 64  # that are remembered, the newest


class Orders:
    """Those of one job."""

    def __init__(self) -> None:
        self._given: dict[str, Order] = {}
        self._answers: dict[str, Acted] = {}

    def give(self, order: Order) -> None:
        """It has been said; what went wrong before is forgotten."""
        self._given[order.id] = order
        self._answers.pop(order.id, None)
        for old in list(self._given)[:-MOST]:
            del self._given[old]
            self._answers.pop(old, None)

    def answer(self, acted: Acted) -> bool:
        """What the launcher says; False when nobody had asked."""
        if acted.order in self._given:
            self._answers[acted.order] = acted
        return acted.order in self._given

    def find(self, order: str) -> Acted | None:
        """What it said to an order; None as long as it has said nothing."""
        return self._answers.get(order)

    def list_open(self) -> list[Order]:
        """Without an answer, the oldest first."""
        return [order for order in self._given.values() if order.id not in self._answers]
