"""Is every hop fast and steady (R8, N2), and is the ring still a ring to the library (R6, R7).

A hop between cards is measured at its sending port or at its cable, one between nodes at the node that sends, too. A ring may also be
measured as a whole; then the figure is that of its worst hop.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from supernoded.plugin import Level, Node, Severity, State, Verdict, View
from supernoded_ring.plan import Plan
from supernoded_ring.settings import RingSettings

LATENCY, JITTER, MODE = "hop.latency", "hop.jitter", "ring.mode"
SAR_RING = "sar_ring"


class TimedHop(msgspec.Struct, frozen=True):
    """A hop as it is measured: what it is called, the subject of its verdicts, and under which names it may be measured."""

    name: str
    subject: str
    measured_at: tuple[str, ...]

    def find_subject(self, seen: View, quantity: str) -> str:
        """The name under which it is measured; empty when under none."""
        return next((subject for subject in self.measured_at if seen.newest(quantity, subject) is not None), "")


def list_hops(plan: Plan) -> tuple[TimedHop, ...]:
    """The hops of a ring, those of nodes by their members."""
    if not plan.of_nodes:
        return tuple(TimedHop(f"{hop} ({hop.cable})", hop.a, (hop.a, hop.cable)) for hop in plan.hops)
    cables: dict[str, list[str]] = {}
    for hop in plan.hops:
        cables.setdefault(hop.sender, []).extend((hop.a, hop.cable))
    following = (*plan.members[1:], plan.members[0])
    steps = zip(plan.members, following, strict=True)
    return tuple(TimedHop(f"{one} -> {two} of {plan.subject}", one, (one, *cables.get(one, ()))) for one, two in steps)


class TimingRule:
    """What the rules of one ring's times share; they remember nothing."""

    kind = ""
    watches: Mapping[str, float] = {LATENCY: 60.0}

    def __init__(self, plan: Plan, node: Node, settings: RingSettings) -> None:
        self._hops, self._limits, self._settings = list_hops(plan), node.limits, settings
        self.scope = plan.subject

    def start(self) -> None:
        """They remember nothing."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of the ring, of its hops, or of both."""
        return memory, list(self._weigh(seen))

    @abstractmethod
    def _weigh(self, seen: View) -> Iterator[Verdict]:
        """What is said of the ring and of its hops."""

    def _find_mode(self, seen: View) -> str:
        """The mode in which the ring runs, if it does not run as one: then hops are not what is measured. Else empty."""
        mode = seen.text(MODE, self.scope)
        if mode is not None and mode != SAR_RING:
            return mode
        known = [latency for hop in self._hops if (latency := seen.number(LATENCY, hop.find_subject(seen, LATENCY))) is not None]
        return "star" if len(known) > 1 and min(known) >= self._limits.ring.star_like_us else ""

    def _list_measured(self, seen: View) -> list[str]:
        return [hop.subject for hop in self._hops if hop.find_subject(seen, LATENCY)]

    def _say(self, seen: View, subject: str, level: Level, text: str, severity: Severity, unseen: Sequence[str] = ()) -> Verdict:
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=seen.now, severity=severity, unseen=tuple(unseen))


class SlowRule(TimingRule):
    """Raises each slow hop by its sending port, and the ring where a lap takes longer than its hops may (Q7).

    Of a ring that runs as a star or an all-reduce every hop is slow, and none of them is to blame: that is `ring.mode`.
    """

    kind = "ring.slow"
    watches: Mapping[str, float] = {LATENCY: 60.0, MODE: 60.0}

    def _weigh(self, seen: View) -> Iterator[Verdict]:
        mode = self._find_mode(seen)
        if mode:
            unseen = [f"{LATENCY}: that of a {mode}"]
            texts = {subject: f"{subject}: its hop is not judged" for subject in self._list_measured(seen)}
            for subject, text in {**texts, self.scope: f"how long a lap of {self.scope} takes is not judged"}.items():
                yield self._say(seen, subject, Level.UNSURE, f"{text} while the ring runs as {mode}", Severity.WARNING, unseen)
            return
        known: list[float] = []
        for hop in self._hops:
            subject = hop.find_subject(seen, LATENCY)
            if subject:
                latency = seen.number(LATENCY, subject)
                known += [] if latency is None else [latency]
                yield self._weigh_hop(seen, hop, subject, latency)
        if known and len(known) == len(self._hops):
            yield self._weigh_lap(seen, sum(known))
        elif seen.newest(LATENCY, self.scope) is not None:
            yield self._weigh_worst(seen, seen.number(LATENCY, self.scope))

    def _weigh_hop(self, seen: View, hop: TimedHop, subject: str, latency: float | None) -> Verdict:
        where = f"the hop {hop.name}"
        if latency is None:
            return self._unsure(seen, hop.subject, subject, where)
        return self._compare(seen, hop.subject, latency, f"{where} takes {latency:.2f} us", 1)

    def _weigh_lap(self, seen: View, lap: float) -> Verdict:
        hops = len(self._hops)
        return self._compare(seen, self.scope, lap, f"a lap of the {hops} hops of {self.scope} takes {lap:.2f} us", hops)

    def _weigh_worst(self, seen: View, worst: float | None) -> Verdict:
        if worst is None:
            return self._unsure(seen, self.scope, self.scope, f"the worst hop of {self.scope}")
        return self._compare(seen, self.scope, worst, f"the worst hop of {self.scope} takes {worst:.2f} us", 1)

    def _compare(self, seen: View, subject: str, latency: float, text: str, hops: int) -> Verdict:
        good, bad, star = (
            hops * limit for limit in (self._limits.ring.hop_good_us, self._limits.ring.hop_bad_us, self._limits.ring.star_like_us)
        )
        if latency <= good:
            return self._say(seen, subject, Level.CLEAR, f"{text}, at most {good:g} us is good", Severity.WARNING)
        if latency <= bad:
            return self._say(seen, subject, Level.RAISED, f"{text}, at most {good:g} us is good", Severity.WARNING)
        like = f", as over a star (from {star:g} us on)" if latency >= star else ""
        return self._say(seen, subject, Level.RAISED, f"{text}, above {bad:g} us{like}: check its cabling", Severity.CRITICAL)

    def _unsure(self, seen: View, subject: str, measured: str, where: str) -> Verdict:
        newest = seen.newest(LATENCY, measured)
        note = newest.note if newest is not None else ""
        return self._say(
            seen, subject, Level.UNSURE, f"how long {where} takes cannot be seen: {note}", Severity.WARNING, [f"{LATENCY}: {note}"]
        )


class JitterRule(TimingRule):
    """Raises a hop whose latency is not steady: by the latencies of the last minutes, or where none are read as a device tells it.

    What was measured while the ring ran as a star says nothing of the hop.
    """

    kind = "ring.jitter"
    watches: Mapping[str, float] = {LATENCY: 600.0, JITTER: 60.0, MODE: 60.0}

    def __init__(self, plan: Plan, node: Node, settings: RingSettings) -> None:
        super().__init__(plan, node, settings)
        self._estimated: dict[str, tuple[float, float | None]] = {}  # where it is measured -> the newest latency, and what came of it

    def _weigh(self, seen: View) -> Iterator[Verdict]:
        limit = self._settings.jitter_factor * self._limits.network.jitter_us
        mode = self._find_mode(seen)
        for subject in self._list_measured(seen) if mode else ():
            text = f"{subject}: its jitter is not judged while {self.scope} runs as {mode}"
            yield self._say(seen, subject, Level.UNSURE, text, Severity.WARNING, [f"{LATENCY}: that of a {mode}"])
        for hop in self._hops if not mode else ():
            sigma = self._measure(seen, hop)
            if sigma is not None:
                level = Level.RAISED if sigma > limit else Level.CLEAR
                text = f"the latency of the hop {hop.name} varies by {sigma:.2f} us, at most {limit:g} us is good"
                yield self._say(seen, hop.subject, level, text, Severity.WARNING)

    def _measure(self, seen: View, hop: TimedHop) -> float | None:
        """Of single latencies where there are any: a device's figure may hold a step from one level to another."""
        at = hop.find_subject(seen, LATENCY)
        if not at:
            at = hop.find_subject(seen, JITTER)
            return seen.number(JITTER, at) if at else None
        newest = seen.good(LATENCY, at)
        if newest is None or self._estimated.get(at, (-1.0, None))[0] != newest.at:
            values = {one.at: one.value for one in seen.window(LATENCY, at) if one.state is State.GOOD}  # by time: some are told twice
            known = [float(value) for value in values.values() if isinstance(value, int | float)]
            sigma = estimate_sigma(known, self._limits.ring.star_like_us, self._settings.jitter_samples)
            self._estimated[at] = -1.0 if newest is None else newest.at, sigma
        return self._estimated[at][1]


def estimate_sigma(values: Sequence[float], star_like: float, fewest: int) -> float | None:
    """The standard deviation from one value to the next (von Neumann), so that a slow drift or one step is no jitter.

    From and to values from `star_like` on nothing is counted. None with fewer than `fewest` values below it.
    """
    pairs = [(before, after) for before, after in pairwise(values) if max(before, after) < star_like]
    if len(pairs) + 1 < fewest:
        return None
    squares = [(after - before) ** 2 for before, after in pairs]
    return math.sqrt((sum(squares) - max(squares)) / (len(squares) - 1) / 2.0)  # one step may be a change of load


class ModeRule(TimingRule):
    """Raises a ring that the library no longer uses as one (R6), or whose every hop is as slow as over a star (R7)."""

    kind = "ring.mode"
    watches: Mapping[str, float] = {MODE: 60.0, LATENCY: 60.0}

    def _weigh(self, seen: View) -> Iterator[Verdict]:
        star, newest = self._limits.ring.star_like_us, seen.newest(MODE, self.scope)
        mode, least = seen.text(MODE, self.scope), self._find_least(seen)
        if mode is not None and mode != SAR_RING:
            slow = f", every hop takes {least:.2f} us or more" if least is not None and least >= star else ""
            yield self._say(seen, self.scope, Level.RAISED, f"{self.scope} has been degraded to {mode}{slow}", Severity.CRITICAL)
        elif least is not None and least >= star:
            text = f"every hop of {self.scope} takes {least:.2f} us or more, from {star:g} us on it runs as a star"
            yield self._say(seen, self.scope, Level.RAISED, text, Severity.CRITICAL)
        elif mode is not None:
            yield self._say(seen, self.scope, Level.CLEAR, f"{self.scope} runs as {mode}", Severity.CRITICAL)
        elif newest is not None:
            text = f"in which mode {self.scope} runs cannot be seen: {newest.note}"
            yield self._say(seen, self.scope, Level.UNSURE, text, Severity.CRITICAL, [f"{MODE}: {newest.note}"])

    def _find_least(self, seen: View) -> float | None:
        """The fastest hop; of a ring that is measured as a whole, that figure."""
        subjects = [subject for hop in self._hops if (subject := hop.find_subject(seen, LATENCY))] or [self.scope]
        known = [latency for subject in subjects if (latency := seen.number(LATENCY, subject)) is not None]
        return min(known, default=None)
