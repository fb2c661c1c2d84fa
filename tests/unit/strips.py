"""A PDU in memory, for tests of what is done outlet by outlet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.errors import WireError
from supernoded.model import Action, Step
from supernoded.outlets import OutletSight


class Strip:
    """A PDU in memory, whose outlets follow at once unless they are stuck or refuse."""

    pdu = "pdu/A1"

    def __init__(self, **states: bool) -> None:
        self.on = {int(name.removeprefix("o")): on for name, on in states.items()}
        self.sent: list[tuple[int, bool]] = []
        self.stuck, self.refusing, self.welded = set[int](), set[int](), set[int]()

    async def look(self, numbers: Sequence[int]) -> Mapping[int, OutletSight]:
        return {
            number: OutletSight(state="on" if self.on[number] else "off", drawing=self.on[number] or number in self.welded)
            for number in numbers
            if number in self.on
        }

    async def switch(self, scope: str, number: int, *, on: bool) -> None:
        if number in self.refusing:
            raise WireError(f"{scope}: no")
        self.sent.append((number, on))
        if number not in self.stuck:
            self.on[number] = on


def order(kind: str, incident: str = "i1", target: str = "pdu/A1", later: float = 0.0) -> Action:
    step = Step(name="s", kind=kind, target=target, reason="a test")
    return Action(id=f"{incident}/s", step=step, incident=incident, scope="feed/A", epoch=1, issued=100.0 + later, deadline=110.0 + later)
