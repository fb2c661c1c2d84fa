"""The table `[reflex]`: which lines the reflex process owns, what fires on them, and what it sends."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated

from supernoded.tables import Conflict, Table, about


class Contact(Enum):
    """A modem input that a dry contact can be wired to."""

    CTS = "cts"
    DCD = "dcd"


class Bank(Enum):
    """Which of a Modbus unit's two banks of registers."""

    HOLDING = "holding"
    INPUT = "input"


class Parity(Enum):
    """The parity of a serial line."""

    NONE = "N"
    EVEN = "E"
    ODD = "O"


class ReflexLine(Table, frozen=True, kw_only=True):
    """A serial line that the reflex process alone opens (safety rule 21)."""

    name: Annotated[str, about("name of the line; the daemon reaches what hangs on it as reflex://<name>")]
    device: Annotated[Path, about("its device, such as /dev/ttyUSB0")]
    baud: Annotated[int, about("speed", unit="baud", source="Q22", ge=300, le=4_000_000)] = 115_200
    parity: Annotated[Parity, about("parity")] = Parity.NONE
    stop: Annotated[int, about("stop bits", ge=1, le=2)] = 1
    echo: Annotated[bool, about("we hear what we say ourselves (safety rule 23)")] = False
    adapter_ms: Annotated[
        float, about("longest time for which the adapter holds back what came; 16 of a USB adapter as delivered", unit="ms", ge=0, le=255)
    ] = 0.0
    turnaround_ms: Annotated[
        float, about("longest time until a unit on it begins to answer", unit="ms", source="ours, after NModbus#203", ge=0, le=1000)
    ] = 4.0
    latest_ms: Annotated[
        float, about("after a request, when its answer can no longer come (safety rule 22)", unit="ms", source="ours", ge=1, le=10_000)
    ] = 300.0
    poll_ms: Annotated[float, about("longest poll of the daemon that is let in; 0 = none", unit="ms", source="ours", ge=0, le=1000)] = 0.0


class Trigger(Table, frozen=True, kw_only=True):
    """What flags one feed: a contact, or a register of a UPS."""

    feed: Annotated[str, about("the feed")]
    line: Annotated[str, about("the line on which it is seen")]
    contact: Annotated[Contact, about("the input that the contact is wired to; absent = a register is polled")] | None = None
    released: Annotated[bool, about("the feed is flagged while the contact is open")] = False
    debounce_ms: Annotated[float, about("how long the contact must stay so", unit="ms", source="ours", ge=0, le=1000)] = 2.0
    register: Annotated[int, about("address of the register", ge=0, le=65_535)] | None = None
    bank: Annotated[Bank, about("its bank")] = Bank.HOLDING
    unit: Annotated[int, about("Modbus unit of the UPS", ge=1, le=247)] = 1
    mask: Annotated[int, about("bits that are looked at", ge=1, le=65_535)] = 65_535
    below: Annotated[int, about("the feed is flagged when the masked value is below this", ge=1, le=65_535)] | None = None
    above: Annotated[int, about("the feed is flagged when the masked value is above this", ge=0, le=65_534)] | None = None
    unknown: Annotated[tuple[int, ...], about("values that mean not known, before the mask", source="design 7")] = (0xFFFF, 0x7FFF, 0x8000)
    frames: Annotated[
        int, about("frames beyond the threshold that it takes, with none between that is not", source="ours", ge=1, le=20)
    ] = 2
    interval_ms: (
        Annotated[float, about("time between two looks; absent = 1 for a contact, 10 for a register", unit="ms", ge=0.2, le=1000)] | None
    ) = None

    @property
    def interval_s(self) -> float:
        """Seconds between two looks."""
        chosen = self.interval_ms if self.interval_ms is not None else 1.0 if self.contact is not None else 10.0
        return chosen / 1000.0

    def conflicts(self) -> Iterable[Conflict]:
        """It is one of the two kinds, and whole."""
        if (self.contact is None) == (self.register is None):
            fault = "a trigger is a contact or a register, one of them"
            yield Conflict(key=(), fault=fault, remedy='set contact = "cts" or "dcd", or register')
        elif self.register is not None and (self.below is None) == (self.above is None):
            yield Conflict(key=("register",), fault="has no threshold, or two", remedy="set below or above")


class ShedFrame(Table, frozen=True, kw_only=True):
    """What the PDUs of a line are told: a broadcast, which each of them obeys by its own arming (safety rule 24)."""

    line: Annotated[str, about("the line")]
    coil: Annotated[int, about("coil that is switched on", ge=0, le=65_535)] | None = None
    register: Annotated[int, about("register that is written", ge=0, le=65_535)] | None = None
    value: Annotated[int, about("what is written to the register", ge=0, le=65_535)] = 1

    def conflicts(self) -> Iterable[Conflict]:
        """It writes one thing."""
        if (self.coil is None) == (self.register is None):
            yield Conflict(key=(), fault="a frame writes a coil or a register, one of them", remedy="set coil or register")


class Reflex(Table, frozen=True, kw_only=True):
    """The bridge from UPSes to PDUs, where a site has no direct line; without lines there is none."""

    socket: Annotated[Path, about("unix socket of the reflex process, in the runtime folder")] = Path("reflex.sock")
    record: Annotated[Path, about("its own record of firings, in the state folder")] = Path("reflex.jsonl")
    record_kb: Annotated[int, about("size at which the record begins anew; the one before is kept", unit="KB", ge=4, le=100_000)] = 256
    deadline_ms: Annotated[
        float, about("from both feeds flagged to the end of the frame and its silence", unit="ms", source="design 2", ge=1, le=5000)
    ] = 20.0
    scheduling_ms: Annotated[float, about("allowance for the machine to give us the processor", unit="ms", source="ours", ge=0, le=100)] = (
        1.0
    )
    refractory_s: Annotated[float, about("least time between two firings", unit="s", source="ours", ge=0, le=3600)] = 30.0
    priority: Annotated[int, about("SCHED_FIFO priority; 0 = the ordinary scheduler", source="ours", ge=0, le=90)] = 20
    lines: Annotated[tuple[ReflexLine, ...], about("lines of the reflex process")] = ()
    triggers: Annotated[tuple[Trigger, ...], about("what flags the feeds")] = ()
    frames: Annotated[tuple[ShedFrame, ...], about("what is sent when all feeds are flagged")] = ()

    def conflicts(self) -> Iterable[Conflict]:
        """Lines that do not resolve, and a shed on one feed alone."""
        names = [line.name for line in self.lines]
        yield from _find_twins("lines", "name", names)
        yield from _find_twins("lines", "device", [str(line.device) for line in self.lines])
        yield from _find_twins("triggers", "feed", [trigger.feed for trigger in self.triggers])
        yield from _find_twins("frames", "line", [frame.line for frame in self.frames])
        wanted = {"triggers": [trigger.line for trigger in self.triggers], "frames": [frame.line for frame in self.frames]}
        for table, lines in wanted.items():
            for index, line in enumerate(lines):
                if line not in names:
                    fault = f"is no line, there are {', '.join(names) or 'none'}"
                    yield Conflict(key=(table, index, "line"), fault=fault, remedy="describe it in [[reflex.lines]]")
        feeds = {trigger.feed for trigger in self.triggers}
        if self.frames and len(feeds) < 2:
            fault = f"is sent on {len(feeds)} feed{'' if len(feeds) == 1 else 's'}; one feed never sheds (safety rule 5)"
            yield Conflict(key=("frames",), fault=fault, remedy="describe a [[reflex.triggers]] for each feed")
        if feeds and not self.frames:
            yield Conflict(key=("triggers",), fault="fire nothing", remedy="describe the shed in [[reflex.frames]]")


def _find_twins(table: str, key: str, values: list[str]) -> Iterable[Conflict]:
    for index, value in enumerate(values):
        if value in values[:index]:
            fault = f"[[reflex.{table}]] has it twice"
            yield Conflict(key=(table, index, key), fault=fault, remedy="keep one of them")
