"""What is declared of a port, and what excuses it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from supernoded.plugin import Node
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.health.bounds import LIMITS, MEASURED
from supernoded_link_ber.health.seeing import list_told, say_span
from supernoded_link_ber.looking import Glimpse, Seen
from supernoded_link_ber.recalling import FORGET
from supernoded_link_ber.settings import LinkBerSettings

UPTIME, ENABLED = "host.uptime", "link.enabled"
WATCHES: Mapping[str, float] = dict.fromkeys(
    (
        *("link.state", "link.phys_state", "link.speed", "link.width", "link.bits", "link.fec", "link.neighbour", "link.probe"),
        *("link.symbol_errors", "link.effective_errors", "link.receive_errors", "link.discards", "link.recoveries"),
        *("link.downed", "link.recent_downs", "link.ber.post_fec", "link.ber.pre_fec", "link.fec.corrected", "link.fec.uncorrected"),
        *("link.present", "link.los", "link.snr", *MEASURED, *LIMITS, ENABLED, UPTIME),
    ),
    120.0,
)  # by every rule of links: see `looking`
COARSE = 30.0  # seconds by which a remembered time may lag, so that memory is not written at every poll, ours

_CARD_PORT = re.compile(r"[^/]+/card\d+/port\d+", re.ASCII)


class Ports:
    """The ports of a node, as its topology and the settings describe them."""

    def __init__(self, node: Node, settings: LinkBerSettings) -> None:
        self._node, self._settings = node, settings
        self._topology, self._limits = node.topology, node.limits.link
        self.gallery = Gallery(WATCHES, self.find_work)
        self._cables = {end: cable.subject for cable in node.topology.cables for end in (cable.a, cable.b)}

    def peer(self, port: str) -> str:
        """The port at the other end of its cable, empty when no cable is declared."""
        return self._topology.peer(port)

    def cable(self, port: str) -> str:
        """The subject of its cable, empty when none is declared."""
        return self._cables.get(port, "")

    def is_declared(self, port: str) -> bool:
        """Whether a cable is declared to be in it, so that it is expected to be up."""
        return port in self._cables

    def expect_gbps(self, port: str) -> float | None:
        """The declared speed, Gb/s: of the settings, else of a cable between cards or between nodes (L12); None = nobody declared one."""
        for pattern, speed in self._settings.expected_gbps.items():
            if fnmatchcase(port, pattern):
                return speed
        if not self.is_declared(port):
            return None
        inside = port.partition("/")[0] == self.peer(port).partition("/")[0]
        return self._limits.backplane_gbps if inside else self._limits.roce_gbps

    def guess_gbps(self, port: str) -> float | None:
        """The declared speed, or what a card's port is made for (L12); None = neither is known."""
        expected = self.expect_gbps(port)
        return self._limits.roce_gbps if expected is None and _CARD_PORT.fullmatch(port) else expected

    def expect_lanes(self, port: str) -> int | None:
        """The declared number of lanes; None = nobody declared one."""
        return next((lanes for pattern, lanes in self._settings.expected_lanes.items() if fnmatchcase(port, pattern)), None)

    def is_switched_off(self, seen: Seen, port: str) -> bool:
        """Whether an administrator switched it off, as whoever looked last says: a slow tool may not have looked since."""
        newest = max(list_told(seen, ENABLED, port).values(), key=lambda reading: reading.at, default=None)
        return newest is not None and newest.value == 0.0

    def find_work(self, port: str) -> str:
        """Who is at work on it, on its cable or at its other end; empty when nobody is."""
        for place in (port, self.cable(port), self.peer(port)):
            if place and self._node.is_under_maintenance(place):
                return "it is under maintenance" if place == port else f"{place} is under maintenance"
        return ""

    def find_excuse(self, seen: Glimpse, worked: float | None, seen_up: float | None = None) -> str:
        """Why the troubles of a port are not judged now; empty when they are.

        `worked` = when somebody was last at work on it; `seen_up` = when it was last up: one that has trained since the boot is judged.
        """
        if seen.work:
            return f"not judged, {seen.work}"
        settle = self._settings.settle_s
        if worked is not None and 0.0 <= seen.now - worked < settle:
            return f"not judged, it was under maintenance {say_span(seen.now - worked)} ago and has {say_span(settle)} to settle"
        node = seen.port.partition("/")[0]
        uptime = seen.seen.good(UPTIME, node)
        up = uptime.value + seen.now - uptime.at if uptime is not None and isinstance(uptime.value, int | float) else None
        if up is not None and up < settle and (seen_up is None or seen_up < seen.now - up):
            return f"not judged, {node} was booted {say_span(up)} ago and has {say_span(settle)} to settle"
        return ""


class Past(msgspec.Struct, frozen=True):
    """What has to be remembered of ports before they can be judged."""

    seen_up: dict[str, float] = {}  # port -> about when it was last seen up
    worked: dict[str, float] = {}  # port -> about when somebody was last at work on it


def remember(past: Past, glimpses: Sequence[Glimpse], now: float) -> Past:
    """The past with what is seen now."""
    up = [one.port for one in glimpses if any(one.states.values())]
    at_work = [one.port for one in glimpses if one.work]
    return Past(_touch(past.seen_up, up, now), _touch(past.worked, at_work, now))


def _touch(times: dict[str, float], names: list[str], now: float) -> dict[str, float]:
    """The same object where nothing changed enough."""
    stale = [name for name in names if not 0.0 <= now - times.get(name, now + 1.0) < COARSE]
    old = [name for name, at in times.items() if now - at > FORGET]
    if not stale and not old:
        return times
    return {name: at for name, at in times.items() if name not in old} | dict.fromkeys(stale, now)
