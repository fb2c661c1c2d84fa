"""What the daemon sees of the reflex process: its own words over the socket, and its record when it is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec

from supernoded.clock import Clock
from supernoded.errors import WireError
from supernoded.model import NODE, Reading
from supernoded.parts import Sensor
from supernoded.reading import make_reading
from supernoded.reflex.record import Firing, read_firings
from supernoded.settings import Settings
from supernoded.settings.reflex import Reflex
from supernoded.wire.hop import Hop
from supernoded.wire.pen import Pen
from supernoded.wire.reflex import Ask, Standing, Told
from supernoded.wire.stream import Address, SocketStream

PERIOD = 5.0  # seconds; ours
PATIENCE = 2.0  # seconds for the process to answer, or for the disk; ours

_ASK = msgspec.json.encode(Ask()) + b"\n"


def list_parts(settings: Settings, clock: Clock) -> Sequence[Sensor]:
    """The daemon's own sensor of the reflex process; none where `[reflex]` has no lines."""
    return [ReflexSensor(settings.reflex, clock)] if settings.reflex.lines else []


@dataclass(frozen=True)
class ReflexSensor:
    """Reads `reflex.state`, `reflex.firings` and `reflex.delay` of `reflex/<line>`."""

    reflex: Reflex
    clock: Clock
    name: str = "reflex"
    scope: str = NODE
    period: float = PERIOD
    timeout: float = 2 * PATIENCE + 1.0
    _hop: Hop = field(default_factory=Hop)

    async def read(self) -> Sequence[Reading]:
        """See `Sensor.read`. A process that is not there is `absent`, and its record says what it did."""
        firings = await self._hop.run(str(self.reflex.record), partial(_read_record, self.reflex), PATIENCE)
        try:
            told = await self._ask()
        except WireError as error:
            told, why = Told(lines=()), str(error)
        else:
            why = "the process does not know this line: it runs on other settings, restart it"
        standings = {standing.line: standing for standing in told.lines}
        at = self.clock.now()
        return [reading for line in self.reflex.lines for reading in self._list_line(line.name, standings, firings, at, why)]

    async def _ask(self) -> Told:
        stream = SocketStream(Address(path=str(self.reflex.socket)), Pen(lambda scope: f"{scope} only looks"))
        try:
            said = await stream.exchange(_ASK, within=PATIENCE)
        finally:
            await stream.close()
        try:
            return msgspec.json.decode(said, type=Told)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise WireError(f"{self.reflex.socket}: this is not the reflex process, it said {said[:80]!r}") from error

    def _list_line(self, line: str, standings: Mapping[str, Standing], firings: Sequence[Firing], at: float, why: str) -> Iterator[Reading]:
        subject, standing = f"reflex/{line}", standings.get(line)
        state, text = ("absent", why) if standing is None else (standing.state, standing.text)
        yield make_reading(subject, "reflex.state", state, "text", at, text)
        if line not in [frame.line for frame in self.reflex.frames]:
            return
        own = [firing for firing in firings if line in firing.lines]
        yield make_reading(subject, "reflex.firings", float(own[-1].number if own else 0), "1", at)
        delay = standing.delay_ms if standing is not None and standing.delay_ms is not None else own[-1].delay_ms if own else None
        yield make_reading(subject, "reflex.delay", delay, "ms", at, "" if delay is not None else "it has never fired")


def _read_record(reflex: Reflex) -> Sequence[Firing]:
    try:
        return read_firings(reflex.record)
    except OSError as error:
        raise WireError(f"{reflex.record}: {error.strerror}; give it to the daemon's user") from error
