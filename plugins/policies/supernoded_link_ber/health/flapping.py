"""A link that goes down and comes back again and again, also between two polls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Severity, Verdict, View
from supernoded_link_ber.health.ports import Past, Ports, remember
from supernoded_link_ber.health.seeing import STATE, name_source, say_span
from supernoded_link_ber.health.tales import Tale, hear
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall
from supernoded_link_ber.settings import LinkBerSettings

RECENT = "link.recent_downs"
TOLD_BY = {
    "link.downed": "went down {} times",
    RECENT: "went down {} times by the device's own records",
    STATE: "was seen to go down {} times",
    "link.recoveries": "had to recover {} times",
}
RECORDED = 3600.0  # seconds that the device's own records reach back, as `link.recent_downs` says


class Life(msgspec.Struct, frozen=True):
    """What is remembered of one link."""

    tales: dict[str, Tale] = {}  # `quantity source` -> its tale
    raised: bool = False


class FlappingMemory(msgspec.Struct, frozen=True):
    """Port -> its life, and the past of all."""

    lives: dict[str, Life] = {}
    past: Past = Past()


class FlappingRule:
    """Raises a link that went down `flaps` times within the window by any one source, and clears it when it has held for long enough."""

    kind, scope = "link.flapping", NODE

    def __init__(self, ports: Ports, settings: LinkBerSettings) -> None:
        self._ports, self._most = ports, settings.flaps
        self._window, self._clear = settings.flap_window_s, settings.flap_clear_s
        self._kept = max(self._window, self._clear)
        self.watches: Mapping[str, float] = ports.gallery.watches
        self._recall = Recall[Life](ports.gallery, self.kind, TOLD_BY)

    def start(self) -> FlappingMemory:
        """No link was ever seen."""
        return FlappingMemory()

    def judge(self, seen: View, memory: FlappingMemory) -> tuple[FlappingMemory, Sequence[Verdict]]:
        """The level of every link of which somebody tells."""
        glimpses = self._recall.look(seen)
        past = remember(memory.past, glimpses, seen.now)

        def weigh(glimpse: Glimpse, life: Life | None) -> tuple[Life, Verdict]:
            excuse = self._ports.find_excuse(glimpse, past.worked.get(glimpse.port))
            tales = self._listen(glimpse, life.tales if life is not None else {})
            if excuse:
                tales = {name: Tale(tale.at, tale.value) for name, tale in tales.items()}
            return self._judge(glimpse, Life(tales, life is not None and life.raised), excuse)

        lives, verdicts = self._recall.ask(glimpses, memory.lives, weigh, _find_date)
        return FlappingMemory(lives, past), verdicts

    def _listen(self, seen: Glimpse, tales: Mapping[str, Tale]) -> dict[str, Tale]:
        heard = {name: tale for name, tale in tales.items() if tale.at <= seen.now + 1.0}  # none from before the clock was set back
        for quantity in TOLD_BY:
            for source, newest in seen.told(quantity, seen.port).items():
                name = f"{quantity} {source}"
                tale = heard.get(name, Tale())
                if quantity != STATE and tale.value is not None and newest.value == tale.value:
                    heard[name] = Tale(max(newest.at, tale.at), tale.value, tale.downs)  # a counter that stands has nothing to tell
                elif newest.at > tale.at:
                    heard[name] = hear(tale, seen.seen.window(quantity, seen.port, source), self._kept, falls=quantity == STATE)
        return heard

    def _judge(self, seen: Glimpse, life: Life, excuse: str) -> tuple[Life, Verdict]:
        port = seen.port
        name, downs = max(((n, t.count(seen.now - self._window)) for n, t in life.tales.items()), key=lambda one: one[1], default=("", 0.0))
        restless = any(tale.count(seen.now - self._clear) for tale in life.tales.values())
        crowded = "" if excuse else self._find_crowded(life, seen.now)
        raised = bool(downs >= self._most or crowded or (life.raised and (restless or excuse)))
        unseen: tuple[str, ...] = ()
        if excuse:
            level, text, unseen = Level.UNSURE, excuse, (excuse,)
        elif downs < self._most and not any(seen.good(quantity, port) for quantity in TOLD_BY):  # silence is no steadiness
            level, text, unseen = Level.UNSURE, "how often the link goes down cannot be seen", tuple(TOLD_BY)
        elif raised:
            level, text = Level.RAISED, self._describe(seen, life, name, downs, crowded)
        else:
            level = Level.CLEAR
            text = f"the link {_say(name, downs)} within {say_span(self._window)}" if downs else "the link holds"
        severity = Severity.CRITICAL if self._ports.is_declared(port) else Severity.WARNING
        said = Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, severity=severity, unseen=unseen)
        return Life(life.tales, raised), said

    def _find_crowded(self, life: Life, now: float) -> str:
        """The records that hold so many downs in an hour that some window of it must have had too many, by pigeonhole."""
        enough = (self._most - 1) * max(1.0, RECORDED / self._window) + 1
        records = ((name, tale) for name, tale in life.tales.items() if name.startswith(RECENT) and now - tale.at < RECORDED)
        return next((name for name, tale in records if (tale.value or 0.0) >= enough), "")

    def _describe(self, seen: Glimpse, life: Life, name: str, downs: float, crowded: str) -> str:
        if downs >= self._most:
            times = [at for at, _ in life.tales[name].downs if at > seen.now - self._window]
            span = f"{say_span(max(1.0, times[0] - times[-1]))}" if len(times) > 1 else "one poll"
            last = f", last {say_span(seen.now - times[0])} ago" if seen.now - times[0] >= 1.0 else ""
            return f"the link {_say(name, downs)} within {span}{last}; {self._most} within {say_span(self._window)} are too many"
        if crowded:
            value = life.tales[crowded].value or 0.0
            return f"the link {_say(crowded, value)} within its last hour; {self._most} within {say_span(self._window)} are too many"
        last_down = max((at for tale in life.tales.values() for at, _ in tale.downs), default=seen.now)
        return f"the link was flapping and last went down {say_span(seen.now - last_down)} ago; it has to hold for {say_span(self._clear)}"


def _find_date(life: Life) -> float:
    return max((tale.at for tale in life.tales.values()), default=0.0)


def _say(name: str, downs: float) -> str:
    quantity, _, source = name.partition(" ")
    return f"{TOLD_BY[quantity].format(f'{downs:.0f}')} (by {name_source(source)})"
