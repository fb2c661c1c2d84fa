"""What a drive is to a scenario: a rack in play, what can be done to it, and what can be seen of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from supernoded.chaos.catalogue import FaultKind, RackView
from supernoded.chaos.condition import Condition
from supernoded.chaos.playing import PlayDaemon
from supernoded.errors import PluginError
from supernoded.model import Sight, Value
from supernoded.registry import GROUP as PLUGINS

T = TypeVar("T")

DRIVES = "supernoded.drives"
ACTION = "action."  # how the kind of a told action begins


class Told(msgspec.Struct, frozen=True):
    """What a daemon told on MQTT, as an observer at the broker heard it, at `at` seconds of the stage.

    An event; or, with a kind that begins with `action.`, an action that is DONE, on `subject` and with its reason as text.
    """

    at: float
    node: str
    kind: str
    subject: str
    raised: bool
    text: str


class Happened(msgspec.Struct, frozen=True):
    """Something that happened to the plant: the truth."""

    at: float
    kind: str
    subject: str
    text: str
    value: float | None = None


class Injection(msgspec.Struct, frozen=True):
    """A fault on one subject for at most so many seconds. The same name again replaces the parameters of the one in place."""

    name: str
    fault: str
    target: str
    parameters: msgspec.Struct
    seconds: float


class Stage(Protocol):
    """A rack in play."""

    def now(self) -> float:
        """Seconds since its start."""
        ...

    async def wait(self, until: float) -> None:
        """Until that time, or until something happened or was told."""
        ...

    async def inject(self, injection: Injection) -> None:
        """Put the fault in place. Raises ChaosError when that cannot be done."""
        ...

    async def lift(self, injection: Injection) -> None:
        """Take it away; one that is not in place is no error. Raises ChaosError when that cannot be done."""
        ...

    async def manifest(self, injection: Injection) -> Sight:
        """Whether the fault shows in what devices answer."""
        ...

    def truth(self, subject: str, quantity: str) -> Value:
        """What is, whatever sensors say; None when there is no such value just now. Raises ChaosError for one that is nowhere."""
        ...

    def happened(self) -> Sequence[Happened]:
        """All that has happened so far, oldest first; it only grows."""
        ...

    def told(self) -> Sequence[Told]:
        """All that daemons have told so far, oldest first; it only grows."""
        ...


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """How a rack is put on stage."""

    rack: str
    seed: int = 1
    plugins: tuple[str, ...] | None = None  # the daemons' plugins; None = all that are installed; () = no daemons at all
    settings: str = ""  # TOML, appended to the daemons' settings
    stand_in: str = ""  # a policy that the drive brings; empty = none
    physics: bool = True  # False: faults are accepted and do nothing
    max_wall: float = 3600.0  # real seconds that the play may take; beyond them it raises ChaosError


@dataclass(frozen=True)
class Played(Generic[T]):
    """What a play gave; `failures` are those that nobody heard in any process."""

    result: T
    trace_hash: str
    failures: Sequence[str] = ()


class Drive(Protocol):
    """A way of running scenarios. The entry point names a class, or a function, that makes one without arguments."""

    @property
    def name(self) -> str:
        """`sim`, `bench` or `live`."""
        ...

    def faults(self) -> Mapping[str, FaultKind]:
        """The catalogue, by kind."""
        ...

    def conditions(self) -> Mapping[str, Sequence[Condition]]:
        """Named conditions, such as `ring_closed`; all of one name must hold together."""
        ...

    def stand_ins(self) -> Mapping[str, str]:
        """The policies it brings: name -> one sentence."""
        ...

    def racks(self) -> Sequence[str]:
        """The racks that it ships; it may know others by name."""
        ...

    def view(self, rack: str) -> RackView:
        """A rack by its names. Raises ChaosError when there is none of this name."""
        ...

    def scenarios(self) -> Sequence[Path]:
        """The folders of the scenarios that it ships."""
        ...

    def play(self, setup: Setup, direct: Callable[[Stage], Coroutine[Any, Any, T]]) -> Played[T]:
        """Put the rack on stage, run the direction to its end, and clear the stage. Raises ChaosError when it cannot be set up."""
        ...

    def player(self, folder: Path) -> PlayDaemon:
        """A player of single daemons whose files are in this folder."""
        ...


def list_plugins() -> list[str]:
    """The plugins that are installed, by the names of their tables."""
    return sorted({entry.name for entry in entry_points(group=PLUGINS)})


def load_drive(name: str) -> Any:
    """What the entry point of this name gives. Raises PluginError when nobody brings it."""
    found = entry_points(group=DRIVES, name=name)
    if not found:
        known = ", ".join(sorted({one.name for one in entry_points(group=DRIVES)})) or "none"
        raise PluginError(f"there is no drive {name!r} in the group {DRIVES}, which has {known}; install the distribution that brings it")
    return next(iter(found)).load()


def find_drive(name: str = "sim") -> Drive:
    """The drive of this name. Raises PluginError when nobody brings it."""
    made = load_drive(name)
    if not hasattr(made, "play"):
        raise PluginError(f"the drive {name!r} plays no scenarios; update the distribution that brings it")
    drive: Drive = made()
    return drive
