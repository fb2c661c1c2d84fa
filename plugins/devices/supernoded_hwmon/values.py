"""What the text of one attribute is worth: a value, or why there is none. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from supernoded.plugin import quote

WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)  # what the kernel's %d, %ld and %lld print
OPEN = -128_000  # m C: an eight-bit register of a diode that is not there
COLDEST, HOTTEST = -40_000, 127_000  # m C; silicon and most registers end there: at it, a part cannot be told from an open input (ours)
UNLIKELY_HOT = 100_000  # m C from which an input that never moves is taken for a floating one; 112000 was seen (ours)
LEAST_LIMIT, MOST_LIMIT = 30_000, 126_000  # m C; registers that nobody has set say 0, 127000 or 65261850 (ours)
FASTEST = 60_000  # rpm; tachometers that overflow show 65535 and more (ours)
FULL_PWM = 255


class Worth(NamedTuple):
    """A value, or None and why."""

    value: float | None
    note: str = ""


def parse_whole(text: str) -> int | None:
    """A whole number, None for anything else."""
    found = WHOLE.fullmatch(text.strip())
    return int(found[0]) if found else None


def read_celsius(text: str) -> Worth:
    """Of `tempN_input`, in m C."""
    milli = parse_whole(text)
    if milli is None:
        return Worth(None, f"{quote(text)} is no temperature")
    if milli == OPEN:
        return Worth(None, f"{milli} m C: an open input, or a diode that is not there")
    if 0 < abs(milli) < 1000:
        return Worth(None, f"{milli} m C: no running machine is at it; the driver shows another unit, or a code")
    if not COLDEST <= milli < HOTTEST:
        return Worth(None, f"{milli} m C is outside {COLDEST} to {HOTTEST}: no part of a running machine is at it")
    return Worth(milli / 1000.0)


def read_limit(*texts: str | None) -> Worth | None:
    """The first of `tempN_max`, `tempN_crit` ... that can be a limit; None when there is no such file."""
    told = [text for text in texts if text is not None]
    for text in told:
        milli = parse_whole(text)
        if milli is not None and LEAST_LIMIT <= milli <= MOST_LIMIT:
            return Worth(milli / 1000.0)
    return Worth(None, f"{', '.join(map(quote, told))}: no limit of a part") if told else None


def read_rpm(text: str) -> Worth:
    """Of `fanN_input`."""
    rpm = parse_whole(text)
    if rpm is None:
        return Worth(None, f"{quote(text)} is no speed")
    return Worth(float(rpm)) if 0 <= rpm < FASTEST else Worth(None, f"{rpm} rpm: no fan turns so")


def read_duty(text: str) -> Worth:
    """Of `pwmN`, in % of 255."""
    pwm = parse_whole(text)
    if pwm is None:
        return Worth(None, f"{quote(text)} is no duty")
    return Worth(to_percent(pwm)) if 0 <= pwm <= FULL_PWM else Worth(None, f"{pwm} is outside 0 to {FULL_PWM}")


def is_faulty(text: str | None) -> bool:
    """Of `tempN_fault` and `fanN_fault`."""
    return text is not None and parse_whole(text) == 1


def to_percent(pwm: int) -> float:
    """Per cent of full duty."""
    return round(pwm * 100.0 / FULL_PWM, 2)


def to_pwm(percent: float) -> int:
    """The nearest step of 0 to 255; what is beyond an end is that end."""
    return round(min(max(percent, 0.0), 100.0) * FULL_PWM / 100.0)
