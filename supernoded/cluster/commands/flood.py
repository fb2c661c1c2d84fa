"""How often one sender may ask: so many at once, and so many a second after that."""

from __future__ import annotations

AT_ONCE = 100  # commands: a holder that looks at every card of a node at once stays far below (ours)
PER_SECOND = 50.0


class Flood:
    """One level by sender; senders are known by their certificates, so their number is bounded."""

    def __init__(self, at_once: float = AT_ONCE, per_second: float = PER_SECOND) -> None:
        self._at_once, self._per_second = at_once, per_second
        self._levels: dict[str, tuple[float, float]] = {}  # how much was left, and when (`Clock.now`)

    def let_in(self, sender: str, now: float) -> bool:
        """Whether one more of this sender may come in."""
        left, at = self._levels.get(sender, (self._at_once, now))
        left = min(self._at_once, left + max(now - at, 0.0) * self._per_second)
        self._levels[sender] = (max(left - 1.0, 0.0), now)
        return left >= 1.0

    def is_calm(self, sender: str) -> bool:
        """Whether it has been asking slowly again for a while: half of what may come at once is free."""
        return self._levels.get(sender, (self._at_once, 0.0))[0] >= self._at_once / 2
