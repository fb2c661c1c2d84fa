"""The port between the admin server and the daemon behind it."""

from __future__ import annotations

from typing import Protocol

import msgspec

from supernoded.messages import (
    ActionFilter,
    Actions,
    BreakerReset,
    Breakers,
    BreakerWasReset,
    CardDone,
    CardFilter,
    Cards,
    CardTested,
    CheckpointAsk,
    Diagnosed,
    EventFilter,
    Events,
    Handed,
    HandOrder,
    Health,
    HoldFilter,
    Holds,
    IncidentFilter,
    Incidents,
    IsolateAsk,
    Jobs,
    LiftAsk,
    Links,
    ModeChanged,
    Modes,
    Nodes,
    Plugins,
    Power,
    RankMap,
    ReadingFilter,
    Readings,
    Rehearsed,
    ReleaseAsk,
    Requested,
    Status,
    Story,
    TestAsk,
    Thermal,
    ThermalHistory,
    ThermalHistoryFilter,
    Timeline,
)
from supernoded.model import Mode


class Caller(msgspec.Struct, frozen=True):
    """Who is at the other end of the socket, by the kernel's word."""

    pid: int
    uid: int
    gid: int


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One changing request and how it was answered, for the journal."""

    caller: Caller
    verb: str  # such as "mode"
    detail: str  # such as "thermal act"
    answer: str  # what the caller was told
    accepted: bool


class CardDesk(Protocol):
    """Answers about cards and holds; raises as `Desk`."""

    async def list_holds(self, wanted: HoldFilter) -> Holds:
        """What is kept out of service, or was."""
        ...

    async def lift(self, id_: str, wanted: LiftAsk, caller: Caller) -> Holds:
        """Lift a hold, whoever has placed it. Raises AdminError when there is none, or it was lifted already."""
        ...

    async def list_cards(self, wanted: CardFilter) -> Cards:
        """Every card that is known."""
        ...

    async def isolate(self, subject: str, wanted: IsolateAsk, caller: Caller) -> CardDone:
        """Hold a card in the caller's name, and have its node fence it. Raises AdminError when there is no such card."""
        ...

    async def release(self, subject: str, wanted: ReleaseAsk, caller: Caller) -> CardDone:
        """Lift the caller's own holds, and have the card given back when nobody holds it any more."""
        ...

    async def test(self, subject: str, wanted: TestAsk, caller: Caller) -> CardTested:
        """Begin to test a card. Raises AdminError while something runs on it."""
        ...

    async def find_test(self, subject: str, test: str) -> CardTested:
        """How a test stands. Raises AdminError when its node knows of none."""
        ...


class Desk(Protocol):
    """Answers for the daemon. Any of these may raise SupernodedError; its message goes to the caller.

    AdminError = the daemon says no to this request (HTTP 409); the others = it cannot answer now (HTTP 503).
    """

    @property
    def cards(self) -> CardDesk:
        """Cards and holds."""
        ...

    async def status(self) -> Status:
        """The node on one screen, and the numbers behind `/metrics`."""
        ...

    async def health(self) -> Health:
        """The supervised parts."""
        ...

    async def plugins(self) -> Plugins:
        """All installed plugins."""
        ...

    async def readings(self, wanted: ReadingFilter) -> Readings:
        """What is in memory now."""
        ...

    async def links(self) -> Links:
        """All ports with a link."""
        ...

    async def nodes(self) -> Nodes:
        """All nodes, as the holder of the role `fleet` sees them."""
        ...

    async def breakers(self) -> Breakers:
        """How much is out of service; only the holder of the role `fleet` knows."""
        ...

    async def reset_breaker(self, name: str, wanted: BreakerReset, caller: Caller) -> BreakerWasReset:
        """Close a breaker that has tripped."""
        ...

    async def diagnose(self, subject: str) -> Diagnosed:
        """What is known of a subject, from the hardware up. Raises NotFoundError when nothing is."""
        ...

    async def power(self) -> Power:
        """All UPSes and PDUs."""
        ...

    async def timeline(self, incident: str) -> Timeline | None:
        """What was seen and done about an incident, or about the newest one of power; None when there is none."""
        ...

    async def thermal(self) -> Thermal:
        """Loops, coolant units and the heat map."""
        ...

    async def thermal_history(self, wanted: ThermalHistoryFilter) -> ThermalHistory | None:
        """What a unit has shown lately; None when nothing was ever read of it."""
        ...

    async def lay_hand(self, target: str, wanted: HandOrder, caller: Caller) -> Handed:
        """Hold a device by hand for a while. Raises AdminError when it is not steered here and now, or the value is out of range."""
        ...

    async def take_hand_off(self, target: str, caller: Caller) -> Handed:
        """Give it back to its loop. Raises AdminError when no loop turns such a device."""
        ...

    async def jobs(self) -> Jobs:
        """The training jobs on this node."""
        ...

    async def map_ranks(self, job: str) -> RankMap | None:
        """The cards of a job's ranks, on all nodes as far as they are told; None when nothing is told of it."""
        ...

    async def find_checkpoint(self, job: str, request: str) -> Requested:
        """How a request stands, the newest where none is named. Raises AdminError when there is no such job or request."""
        ...

    async def ask_checkpoint(self, job: str, wanted: CheckpointAsk, caller: Caller) -> Requested:
        """Ask a job for a checkpoint. Raises AdminError when there is nobody to ask."""
        ...

    async def incidents(self, wanted: IncidentFilter) -> Incidents:
        """Incidents, newest first."""
        ...

    async def story(self, incident: str) -> Story | None:
        """One incident whole; None when there is no such incident."""
        ...

    async def events(self, wanted: EventFilter) -> Events:
        """Events, newest first."""
        ...

    async def actions(self, wanted: ActionFilter) -> Actions:
        """Actions and rehearsals, newest first."""
        ...

    async def modes(self) -> Modes:
        """Every policy's mode."""
        ...

    async def rehearsed(self, policy: str, days: float) -> Rehearsed:
        """What this policy would have done. Raises AdminError when there is no such policy."""
        ...

    async def set_mode(self, policy: str, mode: Mode, caller: Caller) -> ModeChanged:
        """Change a policy's mode; leaving `act` returns once devices are handed back. Raises AdminError when there is no such policy."""
        ...

    async def record(self, request: Request) -> None:
        """Journal one changing request, accepted or not. Raises JournalError."""
        ...
