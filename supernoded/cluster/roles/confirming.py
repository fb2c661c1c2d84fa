"""Whether a node has a role, asked directly: what a standby is asked before its place is steered on without the database."""

from __future__ import annotations

from typing import Protocol

from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.words import Command, Reply, answer_to
from supernoded.errors import WireError

HOLDS = "holds"


class Vacancies(Protocol):
    """What this node knows of its own seats."""

    def is_vacant(self, role: str) -> bool:
        """Whether it neither holds a role nor will take it within a term; saying so is a promise."""
        ...

    def epoch(self, role: str) -> int:
        """The highest epoch of a role that is known here."""
        ...


def answer_holds(commander: Commander, seats: Vacancies) -> None:
    """Serve `holds`: details role; the answer has vacant = yes (not held here, nor taken within a term) or no, and epoch."""

    async def tell(command: Command) -> Reply:
        role = command.details.get("role", "")
        return answer_to(command, details={"vacant": "yes" if seats.is_vacant(role) else "no", "epoch": str(seats.epoch(role))})

    commander.serve(HOLDS, tell, changes=False)


async def confirm(commander: Commander, role: str, node: str) -> bool | None:
    """Whether `node` confirms that it neither has `role` nor will take it within a term; None = it has not answered."""
    try:
        reply = await commander.ask(node, HOLDS, details={"role": role})
    except WireError:
        return None
    return {"yes": True, "no": False}.get(reply.details.get("vacant", ""))
