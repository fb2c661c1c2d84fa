"""`cards.json`: which cards of this node may be used, for whatever starts ranks. Pure, but for the one that writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from supernoded.cards.subjects import find_slot
from supernoded.errors import WireError
from supernoded.model import NODE, Hold
from supernoded.wire import Tree

FILE = "cards.json"  # in the runtime folder
VISIBLE = ("ASCEND_RT_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")  # environment variables of the vendors' runtimes


class RosterCard(msgspec.Struct, frozen=True, kw_only=True):
    """One card. `why` is a sentence on why it may not be used."""

    subject: str
    slot: int
    serial: str
    usable: bool
    spare: bool = False
    why: str = ""


class Roster(msgspec.Struct, frozen=True, kw_only=True):
    """The file. `env` is what to set so that a process sees the usable cards alone."""

    schema: int = 1
    node: str
    cards: tuple[RosterCard, ...]
    env: Mapping[str, str]


def make_roster(
    node: str,
    cards: Iterable[str],
    *,
    serial: Callable[[str], str],
    holds: Callable[[str], tuple[Hold, ...]],
    fenced: Mapping[str, str],
    spares: Iterable[str] = (),
) -> Roster:
    """The roster as of now. `fenced` = card -> why, of what is taken away and not yet given back, though nobody may hold it any more."""
    beside = frozenset(spares)
    rows = tuple(
        RosterCard(
            subject=card,
            slot=find_slot(card) or 0,
            serial=serial(card),
            usable=not (why := _find_reason(holds(card), fenced.get(card, ""))),
            spare=card in beside,
            why=why,
        )
        for card in cards
    )
    visible = ",".join(str(row.slot) for row in rows if row.usable)
    return Roster(node=node, cards=rows, env=dict.fromkeys(VISIBLE, visible))


def _find_reason(holds: tuple[Hold, ...], fenced: str) -> str:
    if holds:
        return "; ".join(f"held by {hold.owner}: {hold.reason}" for hold in holds)
    return f"fenced and not released: {fenced}" if fenced else ""


class RosterFile:
    """Writes it whole, and only when it says something new."""

    def __init__(self, runtime: Tree) -> None:
        self._runtime = runtime
        self._written: Roster | None = None

    async def write(self, roster: Roster) -> None:
        """Raises WireError."""
        if roster == self._written and await self._stands():
            return
        await self._runtime.order(NODE, FILE, msgspec.json.format(msgspec.json.encode(roster)).decode() + "\n")
        self._written = roster

    async def _stands(self) -> bool:
        """Whether what was written is there still: a runtime folder may be emptied."""
        try:
            await self._runtime.read(FILE)
        except WireError:
            return False
        return True
