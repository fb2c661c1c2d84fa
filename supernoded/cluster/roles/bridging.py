"""Keeping on to steer while the database is lost (design section 10): until when, and what the other candidates have to say to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

# Role, node -> True: that node neither holds it nor will take it within a term; None: it has not answered.
Confirm = Callable[[str, str], Coroutine[Any, Any, bool | None]]

BRIDGED = ("cdu", "feed")  # families of roles whose devices only fall back when nobody steers them
ANSWER = 2.0  # seconds in which a candidate has to confirm (ours)


def is_bridged(role: str) -> bool:
    """Whether the holder of a role keeps on without the database; every other one steps down."""
    return role.partition("/")[0] in BRIDGED


async def find_objection(role: str, others: Sequence[str], confirm: Confirm, within: float = ANSWER) -> str:
    """Why its holder must not go on, once every other candidate was asked; empty when all of them confirm that none has the role."""
    answers = await asyncio.gather(*(_ask(role, node, confirm, within) for node in others))
    return "; ".join(answer for answer in answers if answer)


async def _ask(role: str, node: str, confirm: Confirm, within: float) -> str:
    answer: bool | None = None
    with suppress(TimeoutError):
        answer = await asyncio.wait_for(confirm(role, node), within)
    if answer is None:
        return f"{node} does not answer"
    return "" if answer else f"{node} has it, or can take it"


async def ask_nobody(role: str, node: str) -> bool | None:
    """Where there are no keys no node can be asked: nobody confirms anything."""
    del role, node
    return None
