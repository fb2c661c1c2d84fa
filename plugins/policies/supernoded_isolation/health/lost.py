"""Cards that are gone, by the word of a source or by nobody's word where their siblings report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Severity, Verdict, View
from supernoded_isolation.health.codes import LEVELS, LOST, Table
from supernoded_isolation.health.fault import HEALTH, SERIAL, name_card
from supernoded_isolation.health.watch import (
    METRICS,
    PRESENT,
    WINDOW,
    answers,
    count_looks,
    count_misses,
    find_reason,
    list_cards,
    list_sources,
    measure_age,
)
from supernoded_isolation.settings import IsolationSettings

UPTIME = "host.uptime"


class LostMemory(msgspec.Struct, frozen=True):
    """The cards that were ever seen, each with its serial number, empty while that is not known."""

    seen: dict[str, str] = {}


class LostRule:
    """Raises a card that is gone. A source that cannot be read makes no card lost; a card that was never seen is not lost either."""

    kind, scope = "card.lost", NODE
    watches: Mapping[str, float] = {**dict.fromkeys(METRICS, WINDOW), HEALTH: WINDOW, SERIAL: WINDOW, UPTIME: 60.0}

    def __init__(
        self, node: str, declared: Sequence[str], table: Table, settings: IsolationSettings, is_under_maintenance: Callable[[str], bool]
    ) -> None:
        self._node, self._declared, self._table = node, declared, table
        self._polls, self._settle = settings.lost_polls, settings.settle_s
        self._is_under_maintenance = is_under_maintenance

    def start(self) -> LostMemory:
        """No card was ever seen."""
        return LostMemory()

    def judge(self, seen: View, memory: LostMemory) -> tuple[LostMemory, Sequence[Verdict]]:
        """The level of every card that reports or did, and of every declared one where any card reports."""
        cards = list_cards(seen, self._node)
        alive = [card for card in cards if answers(seen, card)]
        memory = _remember(seen, memory, alive)
        verdicts = [self._judge(seen, memory, card, alive) for card in cards]
        missing = [card for card in self._declared if card not in cards]
        strangers = [card for card in alive if card not in self._declared]
        verdicts += [self._judge_unseen(seen, memory, card, alive, strangers) for card in missing if alive]
        if strangers and self._declared:
            verdicts.append(self._count(seen, alive))
        return memory, verdicts

    def _judge(self, seen: View, memory: LostMemory, card: str, alive: Sequence[str]) -> Verdict:
        if self._is_under_maintenance(card):
            return self._say(seen, card, Level.UNSURE, f"{card}: under maintenance, it is not judged")
        name, told = name_card(card, memory.seen.get(card, "")), self._find_loss(seen, card)
        if told and (card in memory.seen or self._is_called_lost(seen, card)):
            doubt = ", though something of it is still read" if card in alive else ""
            return self._say(seen, card, Level.RAISED, f"{name}: the card is gone ({told}){doubt}: {LEVELS[LOST]}", Severity.CRITICAL)
        if told:
            return self._judge_unseen(seen, memory, card, alive, ())
        if card in alive:
            return self._say(seen, card, Level.CLEAR, f"{name}: the card answers")
        return self._judge_silent(seen, card, name, alive)

    def _judge_silent(self, seen: View, card: str, name: str, alive: Sequence[str]) -> Verdict:
        """Nothing of it is read: that counts only by sources that read others."""
        reason, unseen = find_reason(seen, card), (f"all of {card}",)
        sources = [source for source in list_sources(seen, card) if any(answers(seen, other, (source,)) for other in alive)]
        if not sources:
            return self._say(seen, card, Level.UNSURE, f"{name}: no card can be read by its source ({reason})", unseen=unseen)
        missed = min(count_misses(seen, card, source) for source in sources)
        text = f"{name}: nothing of it was read {missed} times in a row, where {self._polls} count as lost, while others report ({reason})"
        if missed < self._polls:
            return self._say(seen, card, Level.UNSURE, text, unseen=unseen)
        return self._say(seen, card, Level.RAISED, f"{text}: {LEVELS[LOST]}", unseen=unseen)

    def _judge_unseen(self, seen: View, memory: LostMemory, card: str, alive: Sequence[str], strangers: Sequence[str]) -> Verdict:
        """It was not seen since the start: that is somebody's trouble only if it should be there, and had its time."""
        name, unseen = name_card(card, memory.seen.get(card, "")), (f"all of {card}",)
        if card not in self._declared:
            return self._say(seen, card, Level.CLEAR, f"{name}: no card was ever seen there, and none is declared")
        if self._is_under_maintenance(card):
            return self._say(seen, card, Level.UNSURE, f"{name}: under maintenance, it is not judged")
        if strangers:
            text = (
                f"{name}: {len(strangers)} cards report under names that are not declared, such as {strangers[0]}; this may be one of them"
            )
            return self._say(seen, card, Level.UNSURE, text, unseen=unseen)
        if not self._is_settled(seen, alive):
            return self._say(seen, card, Level.UNSURE, f"{name}: not seen yet, it has {self._settle:g} s from the boot", unseen=unseen)
        text = f"{name}: declared and never seen since the start, while {len(alive)} others report: {LEVELS[LOST]}"
        return self._say(seen, card, Level.RAISED, text, unseen=unseen)

    def _count(self, seen: View, alive: Sequence[str]) -> Verdict:
        """Where cards are not mapped, it can only be said that some are missing, not which."""
        want, have = len(self._declared), len(alive)
        text = f"{self._node}: {want} cards are declared and {have} report; name their slots in the settings of the plugin that reads them"
        if have >= want:
            return self._say(seen, self._node, Level.CLEAR, text)
        return self._say(seen, self._node, Level.RAISED if self._is_settled(seen, alive) else Level.UNSURE, text)

    def _is_settled(self, seen: View, alive: Sequence[str]) -> bool:
        """Whether the machine has been up long enough, and its cards were looked at often enough."""
        uptime = seen.number(UPTIME, self._node)
        up_for = measure_age(seen, alive) if uptime is None else uptime
        return up_for >= self._settle and any(count_looks(seen, card) >= self._polls for card in alive)

    def _find_loss(self, seen: View, card: str) -> str:
        """What a source says that makes it lost, with its reason; empty when none does."""
        for source in seen.sources(PRESENT, card):
            reading = seen.good(PRESENT, card, source)
            if reading is not None and reading.value == 0:
                return reading.note or f"{source or 'its source'} does not see it on the bus"
        return "its health is told as lost" if self._is_called_lost(seen, card) else ""

    def _is_called_lost(self, seen: View, card: str) -> bool:
        flags = (flag for source in seen.sources(HEALTH, card) for flag in seen.flags(HEALTH, card, source) or ())
        return any(self._table.level(flag) == LOST for flag in flags)

    def _say(
        self, seen: View, subject: str, level: Level, text: str, severity: Severity = Severity.WARNING, unseen: tuple[str, ...] = ()
    ) -> Verdict:
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=seen.now, severity=severity, unseen=unseen)


def _remember(seen: View, memory: LostMemory, alive: Sequence[str]) -> LostMemory:
    known = {card: seen.text(SERIAL, card) or memory.seen.get(card, "") for card in alive}
    return memory if all(memory.seen.get(card) == serial for card, serial in known.items()) else LostMemory({**memory.seen, **known})
