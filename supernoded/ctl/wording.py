"""Times, ages, sizes and values as people read them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from supernoded.messages import Deed
from supernoded.model import Value

NONE = "-"
MINUTE = 60
_UNITS = ((86400, "d"), (3600, "h"), (MINUTE, "min"), (1, "s"))


def say_duration(seconds: float) -> str:
    """Two units at most, such as `2 h 5 min`."""
    left, words = int(abs(seconds)), list[str]()
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count or words:
            words.append(f"{count} {unit}")
        if len(words) == 2:
            break
    return " ".join(word for word in words if not word.startswith("0 ")) or "0 s"


def say_when(at: float | None, now: float) -> str:
    """Local time, and how long ago or how soon; `-` for never."""
    if at is None:
        return NONE
    return f"{_to_local(at):%Y-%m-%d %H:%M:%S} ({say_age(at, now)})"


def say_time(at: float | None, now: float) -> str:
    """As `say_when`, without the date where it is today's."""
    if at is None or _to_local(at).date() != _to_local(now).date():
        return say_when(at, now)
    return f"{_to_local(at):%H:%M:%S} ({say_age(at, now)})"


def say_age(at: float, now: float) -> str:
    """How long ago or how soon."""
    return f"in {say_duration(at - now)}" if at > now + 1 else f"{say_duration(now - at)} ago"


def _to_local(at: float) -> datetime:
    return datetime.fromtimestamp(at, tz=UTC).astimezone()


def say_size(size: float) -> str:
    """Bytes in the unit that fits."""
    return _scale(size, 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"))


def _scale(number: float, step: int, units: tuple[str, ...]) -> str:
    for unit in units[:-1]:
        if abs(number) < step:
            return f"{number:.0f} {unit}" if abs(number) >= 100 else f"{number:.3g} {unit}"
        number /= step
    return f"{number:.3g} {units[-1]}"


def say_value(value: Value, unit: str) -> str:
    """A reading's value with its unit, rounded where it is no count; JSON has it whole."""
    if value is None:
        return NONE
    if isinstance(value, frozenset):
        return " ".join(sorted(value)) or "(none)"
    if isinstance(value, str):
        return value
    if unit == "B":
        return say_size(value)
    if unit == "bit":
        return _scale(value, 1000, ("bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit", "Ebit"))
    if unit == "s" and abs(value) >= 2 * MINUTE:
        return f"{'-' if value < 0 else ''}{say_duration(value)}"
    number = f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e18 else f"{value:.4g}"
    return number if unit == "1" else f"{number} {unit}"


def say_count(count: int, thing: str) -> str:
    """`1 sensor`, `2 sensors`, `2 remedies`."""
    if count == 1:
        return f"1 {thing}"
    return f"{count} {thing[:-1]}ies" if thing.endswith("y") else f"{count} {thing}s"


def say_none(things: str, **wanted: str) -> str:
    """That nothing was found, and by which of the filters; subjects are taken for patterns."""
    asked = [f"{name} {value!r}" for name, value in wanted.items() if value]
    if not asked:
        return f"There are no {things}."
    subject = wanted.get("subject") or wanted.get("target")
    hint = f" '{subject}/*' matches what is below it." if subject and not set("*?[") & set(subject) else ""
    return f"No {things} match {' and '.join(asked)}.{hint}"


def say_left_off(left_off: int) -> list[str]:
    """A line for what is over the limit, if anything is."""
    return [f"... and {left_off} more; narrow the pattern or raise --limit"] if left_off else []


def say_unread(unread: str) -> list[str]:
    """A line for a journal that did not answer, if one did not."""
    return [f"Not all of it: {unread}"] if unread else []


def say_result(deed: Deed) -> str:
    """What became of an action, in one word or two."""
    if deed.rehearsed:
        return "rehearsed"
    return deed.outcome.result.value if deed.outcome is not None else "under way"
