"""Fans and temperatures of the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import NODE, Clock, Reading, Value, make_reading
from supernoded_hwmon.chips import Chip, Chips, Files
from supernoded_hwmon.names import FanNames, is_named, name_temperature
from supernoded_hwmon.patience import Heard, Patience, Pins
from supernoded_hwmon.settings import HwmonSettings
from supernoded_hwmon.values import Worth, is_faulty, read_celsius, read_duty, read_limit, read_rpm

PATTERNS = ("fan*_input", "fan*_fault", "pwm[0-9]", "pwm[0-9][0-9]", "temp*_input", "temp*_fault")
INPUT = re.compile(r"(?P<what>fan|temp)(?P<number>\d{1,4})_input|pwm(?P<pwm>\d{1,2})", re.ASCII)
TIMEOUT = 7.0  # seconds: the wire gives a chip that hangs up after 3, when it is looked for and when it is read (ours)


class HwmonSensor:
    """See `supernoded.plugin.Sensor`; reads and never writes."""

    name, scope, timeout = "hwmon", NODE, TIMEOUT

    def __init__(self, node: str, chips: Chips, clock: Clock, settings: HwmonSettings) -> None:
        self.period = settings.period_s
        self._node, self._chips, self._clock, self._settings = node, chips, clock, settings
        self._patience, self._pins, self._fans = Patience(settings.tolerate), Pins(), FanNames(node, settings.fans)

    async def read(self) -> Sequence[Reading]:
        """All chips once. Raises WireError when the folder cannot be listed."""
        looks = await self._chips.look(PATTERNS)
        readings = [reading for chip, files in looks for reading in self._read_chip(chip, files)]
        return self._find_inlet(readings)

    def _read_chip(self, chip: Chip, files: Files) -> Iterator[Reading]:
        fans = set[int]()
        if is_named(self._settings.exclude, chip.label, chip.name):
            return
        for path in files:
            found = INPUT.fullmatch(path)
            if found is None:
                continue
            if found["what"] == "temp":
                yield from self._read_temperature(chip, files, int(found["number"]))
            else:
                fans.add(int(found["number"] or found["pwm"]))
        for number in sorted(fans):
            yield from self._read_fan(chip, files, number)

    def _read_fan(self, chip: Chip, files: Files, number: int) -> Iterator[Reading]:
        key = f"{chip.label}/fan{number}"
        if is_named(self._settings.exclude, key, f"{chip.label}/pwm{number}"):
            return
        subject, note = self._fans.name(key)
        if f"fan{number}_input" in files:
            heard, worth = self._hear(chip, files, f"fan{number}_input"), Worth(None)
            if heard.text is not None:
                worth = self._judge_fault(chip, files, f"fan{number}_fault") or read_rpm(heard.text)
                worth = worth if self._fans.is_declared(key) else self._pins.doubt_rpm(key, worth)
            yield _tell(subject, "fan.speed", "rpm", heard, worth, note)
        if f"pwm{number}" in files:
            heard = self._hear(chip, files, f"pwm{number}")
            yield _tell(subject, "fan.duty", "%", heard, read_duty(heard.text) if heard.text is not None else Worth(None), note)

    def _read_temperature(self, chip: Chip, files: Files, number: int) -> Iterator[Reading]:
        name = name_temperature(chip, chip.steady, number)
        if is_named(self._settings.exclude, name, f"{chip.label}/temp{number}"):
            return
        heard, worth = self._hear(chip, files, f"temp{number}_input"), Worth(None)
        if heard.text is not None:
            worth = self._judge_fault(chip, files, f"temp{number}_fault") or read_celsius(heard.text)
            worth = self._pins.doubt_celsius(name, worth)
        yield _tell(f"{self._node}/sensor/{name}", "host.temperature", "C", heard, worth)
        limit = read_limit(*(_read_text(chip.steady, f"temp{number}_{what}") for what in ("max", "crit", "emergency")))
        if limit is not None:
            yield make_reading(f"{self._node}/sensor/{name}", "host.temperature.high", limit.value, "C", heard.at, limit.note)

    def _hear(self, chip: Chip, files: Files, path: str) -> Heard:
        return self._patience.hear(f"{chip.label}/{path}", files[path], self._clock.now())

    def _judge_fault(self, chip: Chip, files: Files, path: str) -> Worth | None:
        return Worth(None, f"{chip.label}/{path} is 1: the driver says that it is faulty") if is_faulty(_read_text(files, path)) else None

    def _find_inlet(self, readings: Sequence[Reading]) -> list[Reading]:
        """The first temperature that fits `inlet` is the node's air; it is no part, and has no limit of its own."""
        start = f"{self._node}/sensor/"
        inlet = next((one.subject for one in readings if _is_inlet(one.subject.removeprefix(start), self._settings.inlet)), None)
        found = list[Reading]()
        for one in readings:
            if one.subject != inlet:
                found.append(one)
            elif one.quantity == "host.temperature":
                found.append(make_reading(self._node, "air.temperature", one.value, "C", one.at, one.note))
        return found


def _is_inlet(name: str, pattern: str) -> bool:
    return bool(pattern) and is_named((pattern.lower(),), name.lower())


def _read_text(files: Mapping[str, object], path: str) -> str | None:
    text = files.get(path)
    return text if isinstance(text, str) else None


def _tell(subject: str, quantity: str, unit: str, heard: Heard, worth: Worth, note: str = "") -> Reading:
    """One reading, as old as what was heard."""
    value: Value = worth.value
    return make_reading(subject, quantity, value, unit, heard.at, "; ".join(one for one in (worth.note or heard.note, note) if one))
