"""Switches that this node asks over their own command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Clock, Command, Node, Reading, Sensor, WireError, make_reading, quote
from supernoded_fabric.switch.reading import COUNTERS, SETTINGS, UNITS, Patterns, compile_patterns, parse_answer
from supernoded_fabric.switch.settings import SwitchSettings, Words

SLACK = 1.0  # s beside the runs


class SwitchSensor:
    """Thresholds and counters of one switch: one session after the other. What one does not answer leaves the other alone."""

    scope = NODE

    def __init__(self, name: str, command: Command, patterns: Patterns, settings: SwitchSettings, clock: Clock) -> None:
        self.name, self.period = f"fabric.switch.{name}", settings.period_s
        self.timeout = 2 * settings.timeout_s + SLACK
        self._subject, self._command, self._patterns = f"switch/{name}", command, patterns
        self._settings, self._clock = settings, clock

    async def read(self) -> Sequence[Reading]:
        """Ask for both. What could not be had is UNKNOWN, and its note says why."""
        found: list[Reading] = []
        for words, wanted in ((self._settings.settings, SETTINGS), (self._settings.counters, COUNTERS)):
            if words:
                found += await self._ask(words, wanted)
        return found

    async def _ask(self, words: Words, wanted: Sequence[str]) -> Sequence[Reading]:
        try:
            answer = await self._command.run(*words, within=self._settings.timeout_s)
        except WireError as error:
            return self._lose(wanted, str(error))
        if answer.code:
            said = (answer.err or answer.out).strip()
            return self._lose(wanted, f"ended with {answer.code}: {quote(said)}")
        if answer.truncated:
            return self._lose(wanted, "its answer is too long and was cut")
        return parse_answer(answer.out, wanted, self._patterns, self._subject, self._clock.now())

    def _lose(self, wanted: Sequence[str], why: str) -> list[Reading]:
        at = self._clock.now()
        return [make_reading(self._subject, quantity, None, UNITS.get(quantity, "1"), at, why) for quantity in wanted]


def make_sensors(settings: Mapping[str, SwitchSettings], node: Node) -> list[Sensor]:
    """A sensor a switch, by name. Raises PluginError for patterns that cannot be."""
    made: list[Sensor] = []
    for name, one in sorted(settings.items()):
        patterns = compile_patterns(name, one.patterns)
        made.append(SwitchSensor(name, node.wires.command(one.argv), patterns, one, node.clock))
    return made
