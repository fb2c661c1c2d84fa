"""Times, ages, sizes and values as people read them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from supernoded.messages import Deed
from supernoded.model import Value

NONE = "-"
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


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
    local = datetime.fromtimestamp(at, tz=UTC).astimezone()
    age = f"in {say_duration(at - now)}" if at > now + 1 else f"{say_duration(now - at)} ago"
    return f"{local:%Y-%m-%d %H:%M:%S} ({age})"


def say_size(size: float) -> str:
    """Bytes in the unit that fits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if size >= 100 else f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"


def say_value(value: Value, unit: str) -> str:
    """A reading's value with its unit; counters are shown whole."""
    if value is None:
        return NONE
    if isinstance(value, frozenset):
        return " ".join(sorted(value)) or "(none)"
    if isinstance(value, str):
        return value
    number = f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e18 else f"{value:.6g}"
    return number if unit == "1" else f"{number} {unit}"


def say_count(count: int, thing: str) -> str:
    """`1 sensor`, `2 sensors`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def say_left_off(left_off: int) -> list[str]:
    """A line for what is over the limit, if anything is."""
    return [f"... and {left_off} more; narrow the pattern or raise --limit"] if left_off else []


def say_result(deed: Deed) -> str:
    """What became of an action, in one word or two."""
    if deed.rehearsed:
        return "rehearsed"
    return deed.outcome.result.value if deed.outcome is not None else "under way"
