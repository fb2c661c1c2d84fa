"""A link that is slower than declared (L12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.seeing import STATE, is_down, list_numbers, list_ports, name_source

SPEED = "link.speed"
TOLERANCE = 0.01  # share by which devices round what they print, ours


class SpeedRule:
    """Raises a link whose speed is below the declared by all who can tell. A port of which nobody declared a speed is not judged."""

    kind, scope = "link.speed", NODE
    watches: Mapping[str, float] = {SPEED: 120.0, STATE: 120.0}

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def start(self) -> None:
        """It needs no memory: the newest speed counts."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every port with a declared speed."""
        declared = {port: self._ports.expect_gbps(port) for port in list_ports(seen, SPEED)}
        return memory, [self._judge(seen, port, expected) for port, expected in declared.items() if expected is not None]

    def _judge(self, seen: View, port: str, expected: float) -> Verdict:
        told = list_numbers(seen, SPEED, port)
        unseen: tuple[str, ...] = ()
        work = self._ports.find_work(port)
        if work or is_down(seen, port) or not told:
            newest = seen.newest(SPEED, port)
            why = f"not judged, {work}" if work else f"it cannot be seen: {newest.note if newest is not None else 'never read'}"
            level, text, unseen = Level.UNSURE, f"its speed is not known, {why}", (f"{SPEED}: {why}",)
        else:
            source, speed = max(told.items(), key=lambda one: one[1])
            slow = speed < expected * (1.0 - TOLERANCE)
            level = Level.RAISED if slow else Level.CLEAR
            text = f"the link runs at {speed:g} Gb/s (by {name_source(source)}), {expected:g} Gb/s are declared"
        return Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)
