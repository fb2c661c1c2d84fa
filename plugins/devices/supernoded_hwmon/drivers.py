"""What the numbers in `pwmN_enable` mean, driver by driver. Pure.

The ABI says 0 for no control, which is full speed, 1 for manual, 2 and more for automatic. The deviations known to us are data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from supernoded_hwmon.settings import DriverSettings

ABI = DriverSettings()
NONE = -1
AUTO, MANUAL, FULL = "auto", "manual", "full"

# By the chip's name. What the settings say goes first; drivers change between kernels.
DEVIATIONS: Mapping[str, DriverSettings] = MappingProxyType(
    {
        "corsairpsu": DriverSettings(auto=1, manual=3, full=NONE, others=False),  # as a patch to it has it
        "dell_smm": DriverSettings(tells=False, shared=True),  # Documentation/hwmon/dell-smm-hwmon.rst: write only, for all fans
        "gpdfan": DriverSettings(auto=0, full=NONE, others=False),  # outside the kernel's tree
        "max31785": DriverSettings(auto=3, others=False),  # Documentation/hwmon/max31785.rst; 2 is a speed held in rpm
        "nct6687": DriverSettings(auto=99),  # outside the kernel's tree; newer ones show 2
        # Documentation/hwmon/pwm-fan.rst: 0 takes the fan's power away, all others are manual. There is no way back from us.
        "pwmfan": DriverSettings(auto=NONE, full=NONE, others=False),
    }
)


def find_driver(name: str, told: Mapping[str, DriverSettings]) -> DriverSettings:
    """The driver of a chip by its name."""
    return told.get(name) or DEVIATIONS.get(name, ABI)


def name_control(driver: DriverSettings, number: int | None) -> str | None:
    """`auto`, `manual` or `full`, as the number has it; None when it says nothing that we know."""
    if number is None or number < 0:
        return None
    for word, name in ((driver.manual, MANUAL), (driver.full, FULL), (driver.auto, AUTO)):
        if number == word:
            return name
    return AUTO if driver.others and number > ABI.manual else None


def can_be_given_back(driver: DriverSettings) -> bool:
    """Whether the driver has a word for anything but manual, and one for manual."""
    return driver.manual != NONE and (driver.auto, driver.full) != (NONE, NONE)


def list_ways_back(driver: DriverSettings, found: int | None) -> Iterator[int]:
    """What to write to give an output back, the best first: what was found, automatic, full speed. Manual is never among them."""
    ways = dict.fromkeys((NONE if found is None else found, driver.auto, driver.full))
    yield from (way for way in ways if name_control(driver, way) in {AUTO, FULL})
