"""Performs `coolant.close` and `coolant.open`: the valve of a node's branch, at the CDU (safety rule 20)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from supernoded.plugin import Action, Effect, Sight, WireError
from supernoded_modbus.coolant.coolant import Coolant

CLOSE, OPEN = "coolant.close", "coolant.open"
ROW, COUNT = "branch_valve", "branch_count"


def has_branches(cdu: Coolant) -> bool:
    """Whether its map has a valve for each node of the loop, and their count."""
    return bool(cdu.nodes) and cdu.unit.has(COUNT) and len(cdu.list_numbers(ROW)) == len(cdu.nodes)


class Branches:
    """See `supernoded.plugin.Actuator`."""

    kinds = frozenset({CLOSE, OPEN})

    def __init__(self, cdus: Iterable[Coolant]) -> None:
        self._places = {node: (cdu, number) for cdu in cdus for number, node in enumerate(cdu.nodes)}
        self.targets: Sequence[str] = tuple(self._places)

    async def apply(self, action: Action) -> None:
        """Refused where the CDU has another number of branches than the topology has nodes. Raises WireError, NotHeldError."""
        cdu, number = await self._find(action)
        await cdu.unit.write(action.scope, (ROW, number), 1.0 if action.step.kind == OPEN else 0.0)

    async def observe(self, action: Action) -> Sight:
        """By the valve's position. Raises WireError, also where nobody knows which valve it is: what another shows proves nothing."""
        cdu, number = await self._find(action)
        position = await cdu.see(ROW, number)
        told = {1.0: "open", 0.0: "closed"}.get(position)
        if told is None:
            return Sight(effect=Effect.UNKNOWN, text="the position of its branch valve cannot be read")
        wanted = "open" if action.step.kind == OPEN else "closed"
        return Sight(effect=Effect.PRESENT if told == wanted else Effect.ABSENT, text=f"its branch at {cdu.subject} is {told}")

    async def _find(self, action: Action) -> tuple[Coolant, int]:
        cdu, number = self._places[action.step.target]
        await cdu.unit.know(urgent=True)
        count = await cdu.see(COUNT)
        if count != len(cdu.nodes):
            raise WireError(
                f"{cdu.subject}: it has {count:g} branches, and its loop {cdu.loop.name} in the topology {len(cdu.nodes)} nodes: which is "
                f"that of {action.step.target} is not known, and none is turned; put the topology right"
            )
        return cdu, number
