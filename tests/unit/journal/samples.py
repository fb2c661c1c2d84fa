"""Words, a clock and a fault bench for the tests of the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from sqlalchemy import Connection

from supernoded.journal.leases import Bid, bid
from supernoded.model import NODE, Action, Event, Incident, Lease, Outcome, Result, Severity, Step, action_id


class SteppedClock:
    """Waiting takes no real time, and makes it later."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def wall(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        await asyncio.sleep(0)

    def stream(self, name: str) -> Random:
        return Random(name)


def make_incident(number: int = 1, *, subject: str = "n0/card3", scope: str = NODE, opened: float = 10.0) -> Incident:
    return Incident(
        id=f"i{number}",
        kind="link.ber",
        subject=subject,
        scope=scope,
        opened=opened,
        severity=Severity.WARNING,
        text="BER 3e-12, limit 1.5e-12",
    )


def make_action(incident: str = "i1", name: str = "shed", *, scope: str = NODE, epoch: int = 0, deadline: float = 30.0) -> Action:
    step = Step(name=name, kind="power.shed", target="pdu/A1/outlet7", reason="both feeds sag")
    return Action(
        id=action_id(incident, name), step=step, incident=incident, scope=scope, epoch=epoch, issued=20.0, deadline=deadline, policy="power"
    )


def make_outcome(action: Action, result: Result = Result.DONE, text: str = "seen", at: float = 25.0) -> Outcome:
    return Outcome(action=action.id, result=result, text=text, at=at)


def make_event(number: int, *, subject: str = "n0/card3", at: float | None = None) -> Event:
    return Event(
        id=f"e{number}",
        kind="link.ber",
        subject=subject,
        scope=NODE,
        raised=True,
        text="BER",
        at=float(number) if at is None else at,
        severity=Severity.WARNING,
        incident="i1",
    )


def take_lease(role: str, holder: str, now: float, term: float) -> Callable[[Connection], Lease | None]:
    """Take or renew one lease; None while another node has it, or somebody writes under it."""
    work = bid([Bid(role)], holder, now, term)
    return lambda connection: work(connection).ours.get(role)
