"""What is read: one sensor for all rows of a device that are renewed equally often, and one for the line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Reading, WireError, make_reading
from supernoded_modbus.bus import Bus, RefusedError
from supernoded_modbus.devices import name_line
from supernoded_modbus.doubts import doubt, join
from supernoded_modbus.member import Member
from supernoded_modbus.places import Place, list_polled, make_blocks
from supernoded_modbus.unit import Key, Unit
from supernoded_modbus.values import EXACT, Told

TIMEOUT = 3.0  # seconds beyond the period: time-outs of other units on the line may come first
SLACK_S = 5.0  # a device's clock and the moment of an event come in two reads, the event in the second; ours
COUNTS = ("exchanges", "timeouts", "crc_errors", "echo_errors", "exceptions", "strays")


class UnitSensor:
    """Some rows of one device."""

    def __init__(self, name: str, scope: str, unit: Unit, places: Sequence[Place], period: float) -> None:
        self.name, self.scope, self.period = name, scope, period
        self.timeout = period + TIMEOUT
        self._unit, self._places = unit, places
        self._blocks = make_blocks(places, unit.map)
        self._shown = set[Key]()  # optional ones that are there

    async def read(self) -> Sequence[Reading]:
        """Every quantity of these rows; what cannot be read is UNKNOWN with the reason."""
        values: dict[Key, Told] = {}
        lost = ""
        for block in self._blocks:
            try:
                if not lost:
                    await self._unit.know()
                    values |= await self._unit.read_block(block)
            except RefusedError as error:
                values |= {place.key: Told(None, str(error)) for place in block.places}
            except WireError as error:
                lost = str(error)  # one time-out is enough: its other blocks would cost the line the same again
            if lost:
                values |= {place.key: Told(None, lost) for place in block.places}
        values = dict(self._unit.doubt(values))
        self._shown |= {key for key, told in values.items() if told.value is not None}
        at = self._unit.clock.now()
        return [make_reading(subject, quantity, told.value, unit, at, told.note) for subject, quantity, unit, told in self._tell(values)]

    def _tell(self, values: Mapping[Key, Told]) -> Iterator[tuple[str, str, str, Told]]:
        by_subject: dict[str, dict[str, Told]] = defaultdict(dict)
        gathered: dict[str, dict[int, Told]] = defaultdict(dict)
        for place in self._places:
            row, told = place.row, values[place.key]
            if row.optional and place.key not in self._shown:
                continue
            if row.gather:
                gathered[row.name][place.number] = told
            elif row.quantity:
                told = tell_age(told, values[row.clock, -1]) if row.clock else told
                before = by_subject[place.subject].get(row.quantity)
                by_subject[place.subject][row.quantity] = told if before is None else join(before, told)
        units = {place.row.quantity: place.row.unit for place in self._places}
        for subject, quantities in by_subject.items():
            for quantity, told in quantities.items():
                yield subject, quantity, units[quantity], doubt(quantity, told, quantities)
        for name, bits in gathered.items():
            row = next(place.row for place in self._places if place.row.name == name)
            yield row.subject.replace("{subject}", self._unit.subject), row.quantity, "flags", gather(bits)


def tell_age(moment: Told, clock: Told) -> Told:
    """How long ago a moment is, both on the device's clock."""
    if moment.value is None or clock.value is None:
        return Told(None, moment.note or clock.note)
    age = clock.number - moment.number
    if age < -SLACK_S:
        return Told(None, f"it lies {-age:g} s ahead of the device's own clock")
    return Told(round(max(age, 0.0), EXACT))


def gather(bits: Mapping[int, Told]) -> Told:
    """The numbers whose bit is set; unknown when one of them is."""
    for told in bits.values():
        if told.value is None:
            return Told(None, told.note)
    return Told(frozenset(str(number) for number, told in bits.items() if told.value == 1.0))


def make_sensors(name: str, scope: str, unit: Unit, fastest: float) -> Iterator[UnitSensor]:
    """One for each time of renewal."""
    polled = list_polled(unit.places.values())
    periods: dict[float, list[Place]] = defaultdict(list)
    for place in polled:
        periods[max(place.row.refresh_s, fastest)].append(place)
    for period, places in sorted(periods.items()):
        yield UnitSensor(f"modbus.{name}.{period:g}s", scope, unit, places, period)


class LineSensor:
    """What goes wrong on a line, by kind, for the line and each of its units; nothing is asked for it."""

    timeout = 1.0

    def __init__(self, bus: Bus, unit: Unit, scope: str, period: float) -> None:
        self.name, self.scope, self.period = f"modbus.{name_line(bus.line.name)}", scope, period
        self._bus, self._clock = bus, unit.clock

    async def read(self) -> Sequence[Reading]:
        """The counts."""
        counts = {
            **self._bus.counts,
            "strays": self._bus.counts["strays"] + sum(self._bus.line.counts.get(kind, 0) for kind in ("strays", "late")),
        }
        readings = [*self._count(name_line(self._bus.line.name), counts, self._bus.state)]
        for member in self._bus.members:
            readings += self._count(member.subject, member.counts, member.state, member)
        return readings

    def _count(self, subject: str, counts: Mapping[str, int], state: str, member: Member | None = None) -> Iterator[Reading]:
        now = self._clock.now()
        for kind in COUNTS:
            yield make_reading(subject, f"line.{kind}", float(counts.get(kind, 0)), "1", now)
        yield make_reading(subject, "line.state", state, "text", now, member.refusal if member is not None else "")
