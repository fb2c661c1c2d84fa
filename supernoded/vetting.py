"""What a plugin hands in while it runs, checked before it is kept.

Structs check nothing when they are made, and one that JSON cannot carry would spoil the journal. Each check raises PluginError, which
costs the part that handed it in and nothing else.
"""

from __future__ import annotations

import math
from typing import TypeVar

import msgspec

from supernoded.errors import PluginError
from supernoded.journal.rows import MOST_TEXT, clean
from supernoded.model import Cause, Level, Reading, Setpoint, Severity, Sight, State, Step, Value, Verdict, Word

W = TypeVar("W", bound=Word)

AHEAD = 1.0  # seconds by which a reading may come from the future: clocks of devices are read a moment later
LONGEST_NAME = 200  # characters of a step's name, which becomes part of an identity


def vet_reading(word: object, now: float, source: str = "") -> Reading:
    """A reading that JSON can carry, by `source`; one whose time cannot be is UNKNOWN, or it would stay fresh for ever."""
    reading = word if isinstance(word, Reading) and _is_whole(word) else _vet(word, Reading)
    reading = msgspec.structs.replace(reading, source=source) if source else reading
    texts = reading.subject, reading.quantity, reading.unit, reading.note
    value, whole = _clean_value(reading.value), "".join(texts)
    if value is not reading.value or clean(whole) is not whole:  # one look at all four: a clean one is itself
        subject, quantity, unit, note = map(clean, texts)
        reading = msgspec.structs.replace(reading, value=value, subject=subject, quantity=quantity, unit=unit, note=note)
    if reading.at <= now + AHEAD:
        return reading
    note = f"read at {reading.at:.1f}, which is not before {now:.1f}: the clock of its source is wrong"
    return msgspec.structs.replace(reading, note=note, value=None, state=State.UNKNOWN, at=now)


def _is_whole(reading: Reading) -> bool:
    """Whether every field is of its type, by the quickest look there is: hundreds come in a second, and nearly all are right."""
    value = reading.value
    return (
        (type(value) is float or value is None or type(value) is str)
        and type(reading.at) is float
        and type(reading.state) is State
        and type(reading.subject) is type(reading.quantity) is type(reading.unit) is type(reading.note) is str
    )


def _clean_value(value: Value) -> Value:
    """The same object where it is clean; a text that is too long is not clipped but refused, by the vocabulary."""
    if isinstance(value, str):
        return clean(value) if len(value) <= MOST_TEXT else value
    if isinstance(value, frozenset):
        return value if all(clean(flag) is flag for flag in value) else frozenset(map(clean, value))
    return value


def vet_verdict(word: object, kind: str) -> Verdict:
    """A verdict of the rule's own kind: of another it would be worked by somebody else's policy."""
    verdict = word if isinstance(word, Verdict) and _is_told(word) else _vet(word, Verdict)
    if verdict.kind != kind:
        raise PluginError(f"a verdict of kind {verdict.kind!r} where {kind!r} is due")
    _must_be_finite("the time of a verdict", verdict.at)
    subject, text = clean(verdict.subject), clean(verdict.text)
    if subject is verdict.subject and text is verdict.text:
        return verdict
    return msgspec.structs.replace(verdict, subject=subject, text=text)


def _is_told(verdict: Verdict) -> bool:
    """As `_is_whole`, for verdicts: of a thousand nodes there are thousands in a second."""
    return (
        type(verdict.at) is float
        and type(verdict.level) is Level
        and type(verdict.severity) is Severity
        and type(verdict.unseen) is tuple
        and type(verdict.kind) is type(verdict.subject) is type(verdict.text) is str
        and all(type(quantity) is str for quantity in verdict.unseen)
    )


def vet_cause(word: object) -> Cause:
    """An explanation that can be told."""
    cause = _vet(word, Cause)
    _must_be_finite(f"the weight of {cause.name}", cause.weight)
    return cause


def vet_step(word: object) -> Step:
    """A step that can be written down and comes to an end."""
    step = _vet(word, Step)
    if not 0 < len(step.name) <= LONGEST_NAME or not step.name.isprintable():
        raise PluginError(f"the name of a step has 1 to {LONGEST_NAME} printable characters, not {step.name[:80]!r} ({len(step.name)})")
    _must_be_finite(f"the patience of step {step.name}", step.patience)
    _must_be_finite(f"the amount of step {step.name}", step.amount or 0.0)
    return step


def vet_steps(words: object) -> tuple[Step, ...]:
    """What a remedy wants: nothing, a step, or several."""
    if words is None:
        return ()
    return (vet_step(words),) if not isinstance(words, list | tuple) else tuple(vet_step(word) for word in words)


def vet_setpoint(word: object) -> Setpoint:
    """A setpoint that is a number."""
    setpoint = _vet(word, Setpoint)
    _must_be_finite(f"the setpoint of {setpoint.target}", setpoint.value)
    return setpoint


def vet_sight(word: object) -> Sight:
    """A sight with a text that can be told."""
    sight = _vet(word, Sight)
    return msgspec.structs.replace(sight, text=clean(sight.text))


def _vet(word: object, kind: type[W]) -> W:
    if not isinstance(word, kind):
        raise PluginError(f"{word!r:.80} where a {kind.__name__} is due")
    try:
        return msgspec.convert(msgspec.to_builtins(word), kind)
    except (msgspec.ValidationError, TypeError, OverflowError, RecursionError) as error:
        raise PluginError(f"no {kind.__name__}: {error}") from error


def _must_be_finite(what: str, number: float) -> None:
    if not math.isfinite(number):
        raise PluginError(f"{what} is {number}, which is no number to work with")
