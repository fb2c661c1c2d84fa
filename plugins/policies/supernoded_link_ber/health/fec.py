"""A link without forward error correction at a speed that needs one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall

FEC, SPEED, WIDTH = "link.fec", "link.speed", "link.width"
NONE = frozenset({"none", "off", "no fec", "no fec mode", "disabled", "no-fec"})
FAST_LANE = 50.0  # Gb/s: lanes of four levels are not specified without it (IEEE 802.3cd, clause 91 and 134)
FAST_PORT = 100.0  # Gb/s of a port whose lanes nobody counted; ours: at least two such lanes, or four that have it on copper


class FecRule:
    """Raises a fast link whose FEC is off: a fault of the configuration, not of the cable."""

    kind, scope = "link.fec_off", NODE

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.watches: Mapping[str, float] = ports.gallery.watches
        self._recall = Recall[None](ports.gallery, self.kind, (FEC,))

    def start(self) -> None:
        """It needs no memory: what is configured shows."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every port whose FEC is told."""
        return memory, self._recall.ask(self._recall.look(seen), {}, self._judge)[1]

    def _judge(self, seen: Glimpse, _: None) -> tuple[None, Verdict]:
        port = seen.port
        fec, speed = seen.text(FEC, port), seen.number(SPEED, port) or self._ports.guess_gbps(port)
        unseen: tuple[str, ...] = ()
        if fec is None:
            newest = seen.newest(FEC, port)
            why = newest.note if newest is not None else ""
            level, text, unseen = Level.UNSURE, f"its FEC cannot be seen: {why}", (f"{FEC}: {why}",)
        elif fec.lower() not in NONE:
            level, text = Level.CLEAR, f"FEC is {fec}"
        elif speed is None:
            level, text, unseen = Level.UNSURE, "FEC is off, and whether its speed needs one cannot be seen", (SPEED,)
        else:
            level, text = self._weigh(speed, seen.number(WIDTH, port))
        return None, Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)

    def _weigh(self, speed: float, lanes: float | None) -> tuple[Level, str]:
        each = speed / lanes if lanes else None
        needed = each >= FAST_LANE if each is not None else speed >= FAST_PORT
        what = f"{speed:g} Gb/s on {lanes:g} lanes" if each is not None else f"{speed:g} Gb/s"
        if not needed:
            return Level.CLEAR, f"FEC is off, which {what} can do without"
        limit = f"lanes of {FAST_LANE:g} Gb/s" if each is not None else f"ports of {FAST_PORT:g} Gb/s"
        return Level.RAISED, f"FEC is off at {what}, {limit} and more need RS-FEC; switch it on at both ends, no cable has to be touched"
