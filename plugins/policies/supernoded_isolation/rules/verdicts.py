"""The rules of the role `spares`: each says of one kind what the common inquiry has found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Severity, Topology, Verdict, View
from supernoded_isolation.evidence import say
from supernoded_isolation.evidence.card_views import HEALTH, PRESENT
from supernoded_isolation.evidence.ranks import STATE, is_unheard
from supernoded_isolation.evidence.shared import list_things
from supernoded_isolation.rules.findings import FAULTY, SILENT, Finding, Findings, Memory
from supernoded_isolation.rules.inquiry import WATCHES, Inquiry
from supernoded_isolation.settings import IsolationSettings

SPARES = "spares"
SETTLED_S = 5.0  # s for which cards of a job are in trouble before software is named: a job that ends loses its ranks one by one (ours)
CLEAR_S = 60.0  # s between two rounds in which of every subject is said that it is well, where there are many (ours)
APART = 1.0  # s beyond `common_s` between two cards that are raised and share something, or they would be one incident (ours)


class _CardRule:
    """Of cards that are blamed as one kind."""

    kind, scope = "", SPARES
    watches: Mapping[str, float] = WATCHES

    def __init__(self, inquiry: Inquiry, site: Topology, settings: IsolationSettings) -> None:
        self._inquiry, self._site, self._set = inquiry, site, settings
        self._cards = frozenset(card for node in site.nodes for card in node.list_cards())

    def start(self) -> Memory:
        """Nobody is a suspect."""
        return Memory()

    def judge(self, seen: View, memory: Memory) -> tuple[Memory, Sequence[Verdict]]:
        """The level of every suspect and of what suspects share; now and then that of all others."""
        memory, found = self._inquiry.inquire(seen, memory)
        said = {one.subject: one for one in self._say_all(seen, memory, found)}
        over = [subject for subject in memory.raised if subject not in said]
        due = found.few or not 0.0 <= seen.now - memory.cleared < CLEAR_S
        idle = [subject for subject in self._list_all(seen) if subject not in said] if due else []
        verdicts = [*said.values(), *(self._end(seen, subject) for subject in sorted({*over, *idle}))]
        raised = {one.subject: memory.raised.get(one.subject, seen.now) for one in verdicts if one.level is Level.RAISED}
        kept = {one.subject for one in verdicts if one.level is Level.UNSURE} & memory.raised.keys()
        raised |= {one: memory.raised[one] for one in sorted(kept)}
        return msgspec.structs.replace(memory, raised=raised, cleared=seen.now if due else memory.cleared), verdicts

    def _end(self, seen: View, subject: str) -> Verdict:
        """Nothing is found of it; a card of which nothing was heard in this life, or whose codes are not read now, is not well for that."""
        if subject in self._cards and not seen.sources(PRESENT, subject):
            return self._unsure(seen, subject, f"{subject}: nothing is heard of it yet")
        coded = seen.sources(HEALTH, subject)
        if coded and all(seen.good(HEALTH, subject, source) is None for source in coded):
            return self._unsure(seen, subject, f"{subject}: its codes are not read now")
        return self._clear(seen, subject)

    def _list_all(self, seen: View) -> list[str]:
        """What may have been raised in a life whose memory is lost."""
        return seen.subjects(PRESENT)

    def _say_all(self, seen: View, memory: Memory, found: Findings) -> Iterator[Verdict]:
        raised = dict(memory.raised)
        for finding in found.cards:
            verdict = self._say(seen, raised, finding)
            if verdict is not None:
                if verdict.level is Level.RAISED:
                    raised.setdefault(verdict.subject, seen.now)
                yield verdict
        yield from self._say_shared(seen, found.cards)

    def _say(self, seen: View, raised: Mapping[str, float], one: Finding) -> Verdict | None:
        if one.excuse and (one.blame or one.rank):
            return self._unsure(seen, one.card, one.excuse)
        if one.kind != self.kind:
            return self._unsure(seen, one.card, f"{one.card}: it is judged as {one.kind}") if one.card in raised else None
        if self.kind == SILENT and not one.rank and not is_unheard(seen, one.card):
            return self._clear(seen, one.card, "no rank on it holds a job up")
        told = f"{one.card}: {say(one.evidence)}"
        if one.thing and one.card not in raised:
            return self._unsure(
                seen, one.card, f"{told}. {', '.join(one.others)} came with it and share {one.thing}: that is looked at first"
            )
        if not one.blame:
            return self._unsure(seen, one.card, f"{told}. That is not enough to blame the card: another view has to say so, too")
        wait = self._find_wait(seen.now, raised, one)
        return self._unsure(seen, one.card, f"{told}. {wait}") if wait else self._raise(seen, one.card, f"{told}. The card is to blame")

    def _find_wait(self, now: float, raised: Mapping[str, float], one: Finding) -> str:
        """Why it is not raised yet; empty when it is."""
        if one.card in raised:
            return ""
        young = self._set.common_s - (now - one.since)
        if self.kind == FAULTY and young > 0.0 and not one.urgent:
            return f"Its job can do without haste: for {young:.0f} s more it is seen whether others follow"
        things = set(list_things(one.card, self._site))
        near = [
            other for other, at in raised.items() if now - at < self._set.common_s + APART and things & set(list_things(other, self._site))
        ]
        return f"{near[0]} was taken up just now, and one at a time is" if near else ""

    def _say_shared(self, seen: View, cards: Iterable[Finding]) -> Iterator[Verdict]:
        """The thing is raised, and none of its cards. A job is told as software."""
        shared: dict[str, set[str]] = {}
        for one in cards:
            if one.thing and not one.thing.startswith("job/") and one.kind == self.kind:
                shared.setdefault(one.thing, set()).update((one.card, *one.others))
        for thing, struck in sorted(shared.items()):
            yield self._raise(seen, thing, f"{', '.join(sorted(struck))} came into trouble together and share {thing}: see to it first")

    def _raise(self, seen: View, subject: str, text: str, severity: Severity = Severity.CRITICAL) -> Verdict:
        return Verdict(kind=self.kind, subject=subject, level=Level.RAISED, text=text, at=seen.now, severity=severity)

    def _unsure(self, seen: View, subject: str, text: str) -> Verdict:
        return Verdict(kind=self.kind, subject=subject, level=Level.UNSURE, text=text, at=seen.now, unseen=(f"what {subject} is about",))

    def _clear(self, seen: View, subject: str, text: str = "nothing speaks against it") -> Verdict:
        return Verdict(kind=self.kind, subject=subject, level=Level.CLEAR, text=f"{subject}: {text}", at=seen.now)


class SilentRule(_CardRule):
    """Raises a card whose rank holds its job up, when the card is to blame for it."""

    kind = "card.silent"


class FaultyRule(_CardRule):
    """Raises a card that is to blame while its job, if any, still runs."""

    kind = "card.faulty"


class ProcessRule(_CardRule):
    """Raises a rank, or a whole job, that stands still on cards that look well: its process is to blame."""

    kind = "rank.silent"

    def _say_all(self, seen: View, memory: Memory, found: Findings) -> Iterator[Verdict]:
        del memory
        for one in found.standstills:
            say = self._raise if one.sure or one.told else self._unsure
            yield say(seen, one.subject, one.text)

    def _list_all(self, seen: View) -> list[str]:
        return [*seen.subjects(STATE), *_list_jobs(seen)]


class IdleRule(_CardRule):
    """Raises a job that stands still with all its cards idle, and may as well pause: people are told, and nothing is started anew."""

    kind = "job.idle"

    def _say_all(self, seen: View, memory: Memory, found: Findings) -> Iterator[Verdict]:
        del memory
        yield from (self._raise(seen, one.subject, one.text, Severity.WARNING) for one in found.standstills if one.idle)

    def _list_all(self, seen: View) -> list[str]:
        return _list_jobs(seen)


class SoftwareRule(_CardRule):
    """Raises a job of which several cards came into trouble together: that is software, and none of them is taken out (fleet row 20)."""

    kind = "card.software"

    def _list_all(self, seen: View) -> list[str]:
        return _list_jobs(seen)

    def _say_all(self, seen: View, memory: Memory, found: Findings) -> Iterator[Verdict]:
        del memory
        struck: dict[str, set[str]] = {}
        stood = {one.thing: one.stood_s for one in found.cards if one.stood_s >= self._set.software_s}
        for one in found.cards:
            if one.thing.startswith("job/") and seen.now - one.since >= SETTLED_S:
                struck.setdefault(one.thing, set()).update((one.card, *one.others))
        for job, cards in sorted(struck.items()):
            names = ", ".join(sorted(cards))
            text = f"{job}: {names} came into trouble within {self._set.common_s:g} s of each other: it is likelier software than cards"
            yield self._raise(seen, job, f"{text}. {say_stuck(job, stood[job])}" if job in stood else text)


def say_stuck(job: str, seconds: float) -> str:
    """What a person does about a job that stands still while several of its cards are in trouble."""
    return (
        f"{job} has not stepped for {seconds:.0f} s, and does not get over it by itself: look at its log and at `supernodectl diagnose` of "
        "each of these cards; isolate by hand the one that is ill (`supernodectl card isolate`), or mend the software, and start it anew"
    )


def _list_jobs(seen: View) -> list[str]:
    return sorted({rank.rpartition("/")[0] for rank in seen.subjects(STATE)})
