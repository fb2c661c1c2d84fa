"""A card that complains: its codes, and the worst of what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from supernoded.plugin import NODE, Level, Reading, Severity, State, Verdict, View
from supernoded_isolation.health.codes import LEVELS, LOST, RANKS, UNKNOWN, Table

HEALTH, CHIP, SERIAL = "card.health", "card.chip", "card.serial"
WINDOW = 900.0  # seconds; a source that said nothing of a card within it is not waited for
MOST_NAMED = 8  # codes of one sentence


class FaultRule:
    """Raises a card with a code that is a fault. The same code on several cards at a time becomes one incident of what they share."""

    kind, scope = "card.fault", NODE
    watches: Mapping[str, float] = {HEALTH: WINDOW, CHIP: WINDOW, SERIAL: WINDOW}

    def __init__(self, table: Table, is_under_maintenance: Callable[[str], bool]) -> None:
        self._table, self._is_under_maintenance = table, is_under_maintenance

    def start(self) -> None:
        """It needs no memory: what a source says stands until the source says otherwise."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every card that has a health."""
        return memory, [self._judge(seen, card) for card in seen.subjects(HEALTH)]

    def _judge(self, seen: View, card: str) -> Verdict:
        told, unseen = _list_told(seen, card)
        flags = frozenset(flag for reading in told if isinstance(reading.value, frozenset) for flag in reading.value)
        chip, name = _find_text(seen, CHIP, card), name_card(card, _find_text(seen, SERIAL, card))
        faults = self._table.judge(flags, chip)
        severity, level = Severity.WARNING, Level.UNSURE
        if self._is_under_maintenance(card):
            text = f"{name}: under maintenance, it is not judged"
        elif LOST in faults.values():
            text = f"{name}: the card is gone ({_join(faults)}), its health cannot be seen"
        elif faults:
            level, text = Level.RAISED, f"{name}: {_describe(faults, told)}"
            severity = _weigh(faults)
        elif unseen or not told:
            text = f"{name}: {'; '.join(unseen) or 'nobody tells its health'}"
        else:
            level, text = Level.CLEAR, f"{name}: no code is a fault{f' ({_join(flags)})' if flags else ''}"
        return Verdict(kind=self.kind, subject=card, level=level, text=text, at=seen.now, severity=severity, unseen=unseen)


def name_card(card: str, serial: str) -> str:
    """The slot, and the card in it where it is known."""
    return f"{card} (serial {serial})" if serial else card


def _list_told(seen: View, card: str) -> tuple[list[Reading], tuple[str, ...]]:
    """What each source says of a card now, and which source that used to speak is silent."""
    told, unseen = list[Reading](), list[str]()
    for source in seen.sources(HEALTH, card):
        reading = seen.newest(HEALTH, card, source)
        if reading is not None and reading.state is State.GOOD:
            told.append(reading)
        elif reading is not None and any(one.state is State.GOOD for one in seen.window(HEALTH, card, source)):
            unseen.append(f"{HEALTH} is {reading.state.value} by {source or 'its source'}: {reading.note}")
    return told, tuple(unseen)


def _find_text(seen: View, quantity: str, card: str) -> str:
    """The newest text of a card, empty when there was none: a card does not change its name by falling silent."""
    texts = (reading.value for reading in reversed(seen.window(quantity, card)) if isinstance(reading.value, str))
    return seen.text(quantity, card) or next(texts, "")


def _describe(faults: Mapping[str, str], told: Iterable[Reading]) -> str:
    worst, level = next(iter(faults.items()))
    notes = sorted({reading.note for reading in told if reading.note})
    said = f" ({notes[0]})" if notes else ""
    others = [code for code in faults if code != worst]
    also = f", beside {_join(others)}" if others else ""
    strange = [code for code, asked in faults.items() if asked == UNKNOWN and code != worst]
    doubt = f"; {_join(strange)} {'is' if len(strange) == 1 else 'are'} in no table" if strange else ""
    return f"{worst} asks for {level!r}{said}{also}{doubt}: {LEVELS[level]}"


def _join(codes: Iterable[str]) -> str:
    names = sorted(codes)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _weigh(faults: Mapping[str, str]) -> Severity:
    return Severity.CRITICAL if RANKS[next(iter(faults.values()))] >= RANKS["reset"] else Severity.WARNING
