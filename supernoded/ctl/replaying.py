"""Drive the daemon's own duty with recorded input: the same sampling, rules, incidents and rehearsals, on the input's time.

Nothing is read from a device and nothing is written to one: policies rehearse, and the pen refuses every byte.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import selectors
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import msgspec

from supernoded.clock import Clock
from supernoded.duty import Duty, Means
from supernoded.errors import WireError
from supernoded.guards import Tally
from supernoded.journal.writer import open_journal
from supernoded.model import NODE, Action, Event, Incident, Mode, Outcome, Reading
from supernoded.modes import Modes
from supernoded.parts import Format, Source, World
from supernoded.registry import collect, discover
from supernoded.sampling import FRESH_PERIODS, Scale
from supernoded.settings import Settings
from supernoded.supervisor import Health
from supernoded.wire import Node, Pen
from supernoded.wire.system import Devices, SystemHost, SystemWires

T = TypeVar("T")
Print = Callable[[dict[str, object]], None]

NOWHERE = Path("/nonexistent")  # a replay has no state folder

MOST_FILES = 100_000
LONGEST_FILE = 65_536  # bytes
AFTERMATH = 1.0  # seconds of input time after the last reading, in which it is judged and its incidents are rehearsed


class InputLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits: when nothing is ready its clock goes to the next timer. It starts at 0, where floats are fine."""

    def __init__(self) -> None:
        self._at = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """Seconds since the first reading."""
        return self._at

    def advance(self, seconds: float) -> None:
        """Go on to the next timer."""
        self._at += seconds


class _Jumping(selectors.SelectSelector):
    def __init__(self, loop: InputLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise WireError("the replay waits for something that no input can bring")
        self._loop.advance(max(timeout, 0.0))
        return []


class InputClock:
    """The clock port on an InputLoop, which started at `start`."""

    def __init__(self, start: float) -> None:
        self._start = start

    def now(self) -> float:
        """Input time."""
        return self._start + asyncio.get_running_loop().time()

    def wall(self) -> float:
        """Input time too: a recording has no other."""
        return self.now()

    async def sleep(self, seconds: float) -> None:
        """Until the input has come so far."""
        await asyncio.sleep(max(seconds, 0.0))

    async def reach(self, at: float) -> None:
        """Until it is `at`, to the last digit; a recording that goes back in time makes the clock stand still."""
        await self.sleep(at - self.now())
        self._start = max(at - asyncio.get_running_loop().time(), self._start)

    def stream(self, name: str) -> Random:
        """The same chance in every replay."""
        return Random(name)


class Printer:
    """The teller of a replay: each thing that happens is one JSON line."""

    def __init__(self, clock: Clock, show: Print) -> None:
        self._clock, self._show = clock, show

    def reading(self, reading: Reading) -> None:
        """What was read, as the scale left it."""
        self._line("reading", reading.at, reading, "subject", "quantity", "value", "unit", "state", "note")

    def event(self, event: Event) -> None:
        """An edge."""
        self._line("event", event.at, event, "kind", "subject", "text", "raised", "severity", "incident")

    def incident(self, incident: Incident) -> None:
        """An incident as it is now."""
        fields = ("id", "kind", "subject", "severity", "text", "opened", "closed", "members", "merged_into")
        self._line("incident", self._clock.now(), incident, *fields)

    def action(self, action: Action, outcome: Outcome | None) -> None:
        """What would be done."""
        del outcome
        self._line("action", self._clock.now(), action.step, "kind", "target", "reason", id=action.id, incident=action.incident)

    def _line(self, kind: str, at: float, word: msgspec.Struct, *fields: str, **more: object) -> None:
        built = msgspec.to_builtins(word)
        self._show({"type": kind, "at": at, **{name: built.get(name) for name in fields}, **more})


def replay(sources: Sequence[Source], read: Format, settings: Settings, every: float, show: Print) -> None:
    """Replay all sources, in the order of their times. Raises SupernodedError for input that cannot be read at all, OSError from `show`."""
    batches = _by_time(sorted(itertools.chain.from_iterable(read(source) for source in sources), key=lambda reading: reading.at))
    first = next(batches, None)
    if first is None:
        raise WireError(f"no reading in {', '.join(source.name for source in sources)}; is --as the right format?")
    loop = InputLoop()
    try:
        loop.run_until_complete(_play(first[0], itertools.chain([first], batches), settings, every, show))
    except ExceptionGroup as several:  # of the task group; the first is why the others are there
        raise several.exceptions[0] from None
    finally:
        loop.close()


def _by_time(readings: Iterable[Reading]) -> Iterator[list[Reading]]:
    """Readings of one moment belong together."""
    return (list(group) for _, group in itertools.groupby(readings, key=lambda reading: reading.at))


async def _play(first: Reading, batches: Iterable[list[Reading]], settings: Settings, every: float, show: Print) -> None:
    clock = InputClock(first.at)
    printer, scale = Printer(clock, show), Scale()
    journal = open_journal("sqlite://", clock, run=_inline)
    duty = Duty(NODE, 0, _means(settings, clock, printer), journal, journal)
    async with asyncio.TaskGroup() as group:
        works = [group.create_task(duty.run()), group.create_task(journal.run())]
        await asyncio.sleep(0)
        for batch in batches:
            await clock.reach(batch[0].at)
            weighed = scale.weigh(batch)
            for reading in weighed:
                printer.reading(reading)
            duty.take(weighed, FRESH_PERIODS * every)
        await clock.sleep(AFTERMATH)
        for work in works:
            work.cancel()
    await journal.close()


async def _inline(work: Callable[[], T]) -> T:
    """The journal of a replay is in memory and needs no thread."""
    return work()


def _means(settings: Settings, clock: Clock, printer: Printer) -> Means:
    log = logging.getLogger("supernoded.replay")
    health, wires, topology = Health(clock, log), SystemWires(Pen(_refuse), devices=Devices()), settings.topology

    def node_for(plugin: str) -> Node:
        maintenance = settings.list_maintenance(plugin)
        return Node(settings.node, topology, settings.limits, wires.owned_by(plugin), clock, SystemHost(), NOWHERE, maintenance)

    parts = collect(discover(settings.plugins_off), settings.plugins, node_for)
    parts.sensors.clear()  # the recording is read instead
    parts.loops.clear()  # and nothing is steered
    return Means(
        settings=settings,
        topology=topology,
        parts=parts,
        route=parts.route,
        clock=clock,
        health=health,
        modes=Modes(Mode.OBSERVE, {}),
        guards=(),
        tally=Tally(0, 0),
        teller=printer,
        world=lambda: World(topology=topology),
        held=_refuse,
        log=log,
    )


def _refuse(scope: str) -> str:
    return f"a replay writes nothing, for {scope} or anybody"


def read_sources(paths: Iterable[Path], node: str, start: float, every: float) -> list[Source]:
    """Files as they are, folders as lines of `path TAB value`; each later one is `every` seconds younger. Raises WireError."""
    return [Source(name=str(path), data=_read_input(path), at=start + i * every, node=node, path=path) for i, path in enumerate(paths)]


def _read_input(path: Path) -> bytes:
    try:
        return _flatten(path) if path.is_dir() else path.read_bytes()
    except OSError as error:
        raise WireError(f"{path}: cannot be read: {error.strerror}") from error


def _flatten(root: Path) -> bytes:
    """A tree of small files as lines; one that cannot be read keeps its place with the reason instead of a value.

    The entries of /sys/class/<name> are links: those at the top are followed, no others, since sysfs goes round in circles.
    """
    lines = []
    for top in sorted(root.iterdir()):
        for folder, folders, files in os.walk(top.resolve()):
            folders.sort()
            place = top.name / Path(folder).relative_to(top.resolve())
            lines += [f"{place / name}\t{_read_line(Path(folder, name))}" for name in sorted(files)]
            if len(lines) > MOST_FILES:
                raise WireError(f"{root}: more than {MOST_FILES} files; name the folder that holds the devices")
    return "\n".join(lines).encode()


def _read_line(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "unreadable: not a regular file"  # a pipe would hold us for ever
        with path.open("rb") as file:
            return file.read(LONGEST_FILE).decode(errors="replace").strip().replace("\n", " ")
    except OSError as error:
        return f"unreadable: {error.strerror}"
