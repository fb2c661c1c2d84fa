"""The MTU along a path: the declared one at every port that carries RoCE, and the same at both ends of a cable (N7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from supernoded.plugin import NODE, Level, Node, Severity, Verdict, View
from supernoded_network.growth import list_subjects, say_why
from supernoded_network.settings import NetworkSettings

MTU = "link.mtu"


class MtuRule:
    """Raises a port whose MTU is not the declared one, or differs from that of the other end."""

    kind, scope = "link.mtu", NODE
    watches: Mapping[str, float] = {MTU: 60.0}

    def __init__(self, node: Node, settings: NetworkSettings) -> None:
        site = node.topology
        self._peer, self._limit = site.peer, node.limits.network.mtu_bytes
        self._patterns = settings.roce
        self._ports = {f"{card}/{port}" for one in site.nodes for card in one.list_cards() for port in ("port0", "port1")}
        self._ports.update(end for cable in site.cables for end in (cable.a, cable.b))

    def start(self) -> None:
        """It remembers nothing."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every port that is to carry RoCE and has an MTU."""
        return memory, [self._judge(seen, port) for port in list_subjects(seen, [MTU]) if self._carries_roce(port)]

    def _carries_roce(self, port: str) -> bool:
        return port in self._ports or any(fnmatchcase(port, pattern) for pattern in self._patterns)

    def _judge(self, seen: View, port: str) -> Verdict:
        level, text, unseen = self._weigh(seen, port)
        return Verdict(kind=self.kind, subject=port, level=level, text=text, at=seen.now, severity=Severity.WARNING, unseen=unseen)

    def _weigh(self, seen: View, port: str) -> tuple[Level, str, tuple[str, ...]]:
        mtu, peer = seen.number(MTU, port), self._peer(port)
        other = seen.number(MTU, peer) if peer else None
        if mtu is None:
            why = say_why(seen, MTU, port)
            return Level.UNSURE, f"{port}: its MTU cannot be seen: {why}", (why,)
        if mtu != self._limit:
            return Level.RAISED, f"{port} has an MTU of {mtu:.0f} B, declared are {self._limit} B", ()
        if other is not None and other != mtu:
            return Level.RAISED, f"{port} has an MTU of {mtu:.0f} B, the other end of its cable, {peer}, has {other:.0f} B", ()
        return Level.CLEAR, f"{port} has an MTU of {mtu:.0f} B, as declared", ()
