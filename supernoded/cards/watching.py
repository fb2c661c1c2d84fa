"""A card's own word and counters, watched for a while: whether it answers all the time and counts nothing that it should not. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from supernoded.model import Reading, State

ANSWERS = frozenset({"card.temperature", "card.power", "card.health"})  # what a card that works can always tell
PRESENT, HEALTH, ERRORS, SERIAL = "card.present", "card.health", "card.errors_uncorrected", "card.serial"
WATCHED = (*sorted(ANSWERS), PRESENT, ERRORS, SERIAL)
FINE = frozenset({"ok", "good", "normal", "healthy"})  # words of a healthy card; beside them every flag is a finding
SOON = 0.5  # of the time of the watch by which a card must have answered that was not heard of before (ours)

Key = tuple[str, str]  # quantity and source


class Told(msgspec.Struct, frozen=True):
    """A reading, and until when it counts as fresh."""

    reading: Reading
    until: float


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a watch: `faults` are sentences, none = passed; `text` says what it rests on."""

    faults: tuple[str, ...]
    text: str


def judge_watch(before: Sequence[Told], during: Sequence[Told], begin: float, now: float, serial: str = "") -> Seen:
    """Judge a card by its readings: the newest from before the watch, and all of the time since. `serial` = which card it should be."""
    faults = [
        *_find_silence(before, during, begin, now),
        *_find_absence(before, during),
        *_find_flags([*before, *during]),
        *_find_errors(before, during),
        *_find_exchange([*before, *during], serial),
    ]
    answers = [told for told in during if is_answer(told.reading)]
    sources = sorted({told.reading.source for told in answers})
    counted = any(told.reading.quantity == ERRORS and told.reading.state is State.GOOD for told in during)
    errors = "no new uncorrected error" if counted else "uncorrected errors are not counted"
    return Seen(
        faults=tuple(dict.fromkeys(faults)),
        text=f"{len(answers)} reading{'' if len(answers) == 1 else 's'} by {', '.join(sources) or 'nobody'}, {errors}",
    )


def is_answer(reading: Reading) -> bool:
    """Whether a card that works can have said this."""
    return reading.quantity in ANSWERS and reading.state is State.GOOD


def _find_silence(before: Sequence[Told], during: Sequence[Told], begin: float, now: float) -> Iterator[str]:
    """It must answer soon, in the time of the watch, and from then on one of its readings must be good and fresh at every moment."""
    answers = [told.reading.at for told in during if is_answer(told.reading)]
    if not answers:
        yield f"it did not answer once in {now - begin:.1f} s{_say_why(during)}"
        return
    start = begin if any(is_answer(told.reading) and told.until >= begin for told in before) else answers[0]
    if start - begin > SOON * (now - begin):
        yield f"its first answer came {start - begin:.1f} s after the beginning"
    latest: dict[Key, Told] = {(told.reading.quantity, told.reading.source): told for told in before}
    for told in (*during, None):
        at = now if told is None else told.reading.at
        if at > start and not any(is_answer(one.reading) and one.until >= at for one in latest.values()):
            yield f"{at - begin:.1f} s after the beginning it did not answer{_say_why(list(latest.values()))}"
            return
        if told is not None:
            latest[told.reading.quantity, told.reading.source] = told


def _say_why(told: Sequence[Told]) -> str:
    return next((f": {one.reading.note}" for one in reversed(told) if one.reading.note), "")


def _find_absence(before: Sequence[Told], during: Sequence[Told]) -> Iterator[str]:
    for told in (*before, *during):
        if told.reading.quantity == PRESENT and told.reading.state is State.GOOD and told.reading.value == 0.0:
            yield f"{told.reading.source or 'its bus'} says that it is not there"


def _find_flags(told: Sequence[Told]) -> Iterator[str]:
    for one in told:
        value = one.reading.value
        if one.reading.quantity == HEALTH and one.reading.state is State.GOOD and isinstance(value, frozenset):
            found = sorted(flag for flag in value if flag.strip().lower() not in FINE)
            if found:
                yield f"its health says {', '.join(found[:8])}"


def _find_errors(before: Sequence[Told], during: Sequence[Told]) -> Iterator[str]:
    """A counter that falls has been reset: it counts from there."""
    last: dict[str, float] = {}
    for one in (*before, *during):
        value = one.reading.value
        if one.reading.quantity != ERRORS or one.reading.state is not State.GOOD or not isinstance(value, int | float):
            continue
        if value > last.get(one.reading.source, value):
            yield f"{value - last[one.reading.source]:g} uncorrected errors came while it was watched"
        last[one.reading.source] = float(value)


def _find_exchange(told: Sequence[Told], serial: str) -> Iterator[str]:
    found = [
        one.reading.value
        for one in told
        if one.reading.quantity == SERIAL and one.reading.state is State.GOOD and isinstance(one.reading.value, str)
    ]
    for now in dict.fromkeys((*([serial] if serial else []), *found)):
        if found and now != found[-1]:
            yield f"card {now} was in the slot, now it is {found[-1]}"
