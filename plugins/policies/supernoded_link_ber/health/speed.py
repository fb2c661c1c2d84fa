"""A link that is slower than declared (L12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.seeing import list_numbers, name_source
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall

SPEED = "link.speed"
TOLERANCE = 0.01  # share by which devices round what they print, ours


class SpeedRule:
    """Raises a link whose speed is below the declared by all who can tell. A port of which nobody declared a speed is not judged."""

    kind, scope = "link.speed", NODE

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.watches: Mapping[str, float] = ports.gallery.watches
        self._recall = Recall[None](ports.gallery, self.kind, (SPEED,))

    def start(self) -> None:
        """It needs no memory: the newest speed counts."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every port with a declared speed."""
        return memory, self._recall.ask(self._recall.look(seen), {}, self._judge)[1]

    def _judge(self, seen: Glimpse, _: None) -> tuple[None, Verdict | None]:
        port, expected = seen.port, self._ports.expect_gbps(seen.port)
        if expected is None:
            return None, None
        told = list_numbers(seen, SPEED, port)
        unseen: tuple[str, ...] = ()
        if seen.work or seen.is_down or not told:
            newest = seen.newest(SPEED, port)
            why = f"not judged, {seen.work}" if seen.work else f"it cannot be seen: {newest.note if newest is not None else 'never read'}"
            level, text, unseen = Level.UNSURE, f"its speed is not known, {why}", (f"{SPEED}: {why}",)
        else:
            source, speed = max(told.items(), key=lambda one: one[1])
            slow = speed < expected * (1.0 - TOLERANCE)
            level = Level.RAISED if slow else Level.CLEAR
            text = f"the link runs at {speed:g} Gb/s (by {name_source(source)}), {expected:g} Gb/s are declared"
        return None, Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)
