"""What a policy that leaves `act` has done in open incidents and has not undone: it is said, for it stays as it is (safety rule 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from supernoded.admin.archives import Archives
from supernoded.errors import JournalError
from supernoded.house import House
from supernoded.journal import queries
from supernoded.messages import Deed
from supernoded.model import Result

MOST = 1_000  # actions of one policy that are looked through, the newest
SENT = frozenset({Result.DONE, Result.UNCONFIRMED})
CAP = "power.cap"  # without an amount it lifts the one that is there

# What leaves something standing, and what undoes it. A shed ends by its PDU's own timer; a checkpoint and a notice leave nothing.
UNDONE_BY: Mapping[str, str] = MappingProxyType({"power.off": "power.on", "outlet.off": "outlet.on", "job.stop": "job.resume", CAP: CAP})


def list_standing(deeds: Iterable[Deed]) -> list[str]:
    """Kind and target of each, in the order in which they were done; `deeds` the oldest first."""
    standing: dict[tuple[str, str], str] = {}
    for deed in deeds:
        step = deed.action.step
        if deed.outcome is not None and deed.outcome.result not in SENT:
            continue
        for kind, undone_by in UNDONE_BY.items():
            if step.kind == undone_by:
                standing.pop((kind, step.target), None)
        if step.kind in UNDONE_BY and not (step.kind == CAP and step.amount is None):
            standing[step.kind, step.target] = f"{step.kind} on {step.target}"
    return list(standing.values())


def say_standing(deeds: Iterable[Deed], policy: str) -> str:
    """As a part of a sentence; empty when nothing stands."""
    standing = list_standing(deeds)
    if not standing:
        return ""
    return f"left as it is till {policy} acts again, for its incident stays open, or till you undo it: {', '.join(standing)}"


async def recall_standing(house: House, policy: str) -> str:
    """The same of what the journal knows of the open incidents of a policy."""
    try:
        asked = queries.actions(queries.Filter(policy=policy, limit=MOST))
        mine = (await Archives(house).find_rows(asked, lambda deed: deed.action.issued, MOST)).rows
    except JournalError as error:
        return f"what its remedies have left cannot be told, since the journal does not answer: {error}"
    still = {incident.id for incident in house.incidents}
    return say_standing([deed for deed in mine[::-1] if deed.action.incident in still], policy)
