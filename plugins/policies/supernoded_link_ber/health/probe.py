"""A device that cannot reach its peer although the link is up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall

PROBE = "link.probe"
ABOUT_PEER = frozenset({"fault", "unreachable", "time-out"})  # `failed` is the probe's own failure and says nothing of the link
LOOKS = 2  # in a row, ours: one lost packet is none


class ProbeMemory(msgspec.Struct, frozen=True):
    """Port -> how many bad answers in a row, and when the last was read."""

    bad: dict[str, tuple[int, float]] = {}


class ProbeRule:
    """Raises a port whose device cannot reach its peer over a link that is up."""

    kind, scope = "link.probe", NODE

    def __init__(self, gallery: Gallery) -> None:
        self.watches: Mapping[str, float] = gallery.watches
        self._recall = Recall[tuple[int, float]](gallery, self.kind, (PROBE,))

    def start(self) -> ProbeMemory:
        """No answer was bad."""
        return ProbeMemory()

    def judge(self, seen: View, memory: ProbeMemory) -> tuple[ProbeMemory, Sequence[Verdict]]:
        """The level of every port that is probed."""
        bad, verdicts = self._recall.ask(self._recall.look(seen), memory.bad, self._judge, lambda count: count[1])
        return ProbeMemory(bad), verdicts

    def _judge(self, seen: Glimpse, known: tuple[int, float] | None) -> tuple[tuple[int, float] | None, Verdict]:
        port, before = seen.port, known or (0, -1.0)
        reading = seen.good(PROBE, port)
        word = reading.value if reading is not None and isinstance(reading.value, str) else None
        count, unseen = (0, -1.0), tuple[str, ...]()
        if seen.is_down:
            level, text, unseen = Level.UNSURE, "the link is down, its peer cannot be reached over it", (PROBE,)
        elif word == "success":
            level, text = Level.CLEAR, "its device reaches its peer"
        elif reading is not None and word in ABOUT_PEER:
            count = (min(before[0] + 1, LOOKS), reading.at) if reading.at > before[1] else before
            level = Level.RAISED if count[0] >= LOOKS else Level.UNSURE
            text = f"the link is not down, yet its device's probe of the peer says {word!r}; look at addresses and routes, and at the peer"
            unseen = () if level is Level.RAISED else (f"{PROBE}: said it once",)
        else:
            newest = seen.newest(PROBE, port)
            why = {"failed": "the probe itself failed", "starting": "the probe has not answered yet"}.get(word or "")
            why = why or (newest.note if newest is not None else "")
            level, text, unseen = Level.UNSURE, f"whether its peer is reached cannot be seen: {why}", (f"{PROBE}: {why}",)
            count = before
        return count if count[0] else None, Verdict(
            kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen
        )
