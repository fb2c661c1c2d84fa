"""Outputs that turn fans: what each shows, by its driver's words, and writing them with a look afterwards."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from supernoded.plugin import NotHeldError, WireError
from supernoded_hwmon.chips import Chip, Chips, Files
from supernoded_hwmon.drivers import AUTO, MANUAL, find_driver, name_control
from supernoded_hwmon.names import is_named
from supernoded_hwmon.settings import DriverSettings, HwmonSettings
from supernoded_hwmon.values import parse_whole

T = TypeVar("T")

PATTERNS = ("pwm[0-9]", "pwm[0-9][0-9]", "pwm*_enable")
PWM = re.compile(r"pwm(\d{1,2})", re.ASCII)
TRIES = 3  # writes of one value: a driver was seen to refuse half of them (lm-sensors 382)


@dataclass(frozen=True)
class Output:
    """One `pwmN` and what enables it, as it was looked at."""

    chip: Chip
    driver: DriverSettings
    path: str  # `pwm1`
    switch: str  # `pwm1_enable`
    enable: int | None  # None: it could not be read, or is no number
    pwm: int | None
    trouble: str = ""  # why not

    @property
    def key(self) -> str:
        """`chip/pwm1`."""
        return f"{self.chip.label}/{self.path}"

    @property
    def control(self) -> str | None:
        """`auto`, `manual`, `full`, or None for what we do not know."""
        return name_control(self.driver, self.enable)

    async def set_control(self, scope: str, word: int) -> int | None:
        """Write it and look; what it shows then, which for a driver that does not tell is what was written. Raises WireError."""
        await _insist(lambda: self.chip.tree.order(scope, self.switch, str(word)))
        return parse_whole(await _insist(lambda: self.chip.tree.read(self.switch))) if self.driver.tells else word

    async def set_pwm(self, scope: str, pwm: int) -> None:
        """Write the duty. What it shows then may be the nearest of a few steps, or follow later. Raises WireError."""
        await _insist(lambda: self.chip.tree.order(scope, self.path, str(pwm)))


async def _insist(work: Callable[[], Awaitable[T]]) -> T:
    """What it gives at one of the tries. One that hangs is not tried again."""
    for _ in range(TRIES - 1):
        try:
            return await work()
        except NotHeldError:
            raise
        except WireError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise
    return await work()


async def look_at_outputs(chips: Chips, settings: HwmonSettings) -> list[Output]:
    """Every output with a switch, of all chips. Raises WireError."""
    looks = await chips.look(PATTERNS)
    return [output for chip, files in looks for output in _list_outputs(chip, files, find_driver(chip.name, settings.drivers))]


def may_be_turned(output: Output, settings: HwmonSettings) -> bool:
    """Whether the settings name it; where they name none, every one counts that they do not exclude."""
    chip, key = output.chip, output.key
    steered = is_named(settings.steer or ("*",), chip.label, chip.name)
    return steered and not is_named(settings.exclude, chip.label, chip.name, key, key.replace("/pwm", "/fan"))


def _list_outputs(chip: Chip, files: Files, driver: DriverSettings) -> Iterator[Output]:
    """One without a switch could not be given back, so that it is none of ours."""
    for path in files:
        if PWM.fullmatch(path) is None:
            continue
        switch = "pwm1_enable" if driver.shared else f"{path}_enable"
        if switch in files:
            enable, why = _read(files[switch])
            pwm, _ = _read(files[path])
            yield Output(chip, driver, path, switch, enable, pwm, why)


def _read(found: str | WireError) -> tuple[int | None, str]:
    if isinstance(found, WireError):
        return None, str(found)
    number = parse_whole(found)
    return number, "" if number is not None else f"{found!r:.40} is no number"


def join_controls(outputs: Sequence[Output]) -> str | None:
    """Of all of them: manual when one is; else what all say; auto when some are at full speed; None when one is not known."""
    controls = {output.control for output in outputs}
    if MANUAL in controls:
        return MANUAL
    if None in controls or not controls:
        return None
    return controls.pop() if len(controls) == 1 else AUTO
