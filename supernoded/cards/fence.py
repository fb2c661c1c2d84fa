"""The fence of this node's cards: the site's program, a record of what was done, and the roster that launchers read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from supernoded.cards.hooks import Occasion, SiteHooks
from supernoded.cards.roster import RosterFile, make_roster
from supernoded.cards.subjects import list_cards
from supernoded.clock import Clock
from supernoded.errors import RefusedError, WireError
from supernoded.holds import Holds
from supernoded.journal.rows import clean
from supernoded.model import NODE, Hold
from supernoded.state_file import StateFile
from supernoded.supervisor import Health
from supernoded.topology import Topology
from supernoded.wire import Tree

FILE = "fence.json"  # in the state folder
MOST_TEXT = 300  # characters of a reason that are written down (ours)
BY_HAND = "operator "  # how the owner of what a person has done begins
LOOK_AGAIN = 5.0  # seconds after which the roster is looked at without news: holds expire by themselves (ours)


class Fenced(msgspec.Struct, frozen=True, kw_only=True):
    """A card that was taken away from whatever used it. `since` in Unix seconds."""

    since: float
    owner: str
    reason: str
    serial: str = ""
    said: str = ""  # by the site's program
    proven: str | None = None  # the serial number with which it has passed a test since


class Record(msgspec.Struct, frozen=True):
    """What stands, by card."""

    cards: Mapping[str, Fenced] = {}


class Fence:
    """Isolates and releases cards. `serial_of` tells which card is in a slot now."""

    def __init__(
        self,
        node: str,
        site: Topology,
        *,
        state: Tree,
        runtime: Tree,
        hooks: SiteHooks,
        holds: Holds,
        clock: Clock,
        health: Health,
        serial_of: Callable[[str], str],
    ) -> None:
        self.cards = list_cards(site, node)
        self.node, self._spares = node, [spare.card for spare in site.spares]
        self._record = StateFile(state, FILE, Record, "isolated cards", "see which cards are taken away, and remove it")
        self._roster, self._hooks, self._holds = RosterFile(runtime), hooks, holds
        self._clock, self._health, self._serial_of = clock, health, serial_of
        self._free = asyncio.Lock()  # the record is read, changed and written by one at a time
        self._news = asyncio.Event()
        self.known: Mapping[str, Fenced] | None = None  # as of the last look at the record; None = there was none yet
        holds.on_change.append(self._news.set)

    def find_refusal(self, card: str, owner: str) -> str:
        """Why a card may not be isolated by `owner`; empty when it may."""
        if any(hold.owner == owner for hold in self._holds.of(card)):
            return ""
        return f"{card} is not isolated: no hold of {owner} stands on it, and without one nobody would know why it is out of service"

    def find_hindrance(self, card: str) -> str:
        """Why a card may not be released; empty when it may."""
        if self._holds.trouble:
            return f"{card} is not released: whether somebody holds it is not known, {self._holds.trouble}"
        standing = self._holds.of(card)
        return f"{card} is not released: {describe_holds(standing)}" if standing else ""

    def is_fenced(self, card: str) -> bool | None:
        """As of the last look at the record; None for another node's card, and before that look."""
        return None if self.known is None or card not in self.cards else card in self.known

    async def find(self, card: str) -> Fenced | None:
        """Whether a card is taken away, and since when. Raises WireError."""
        found = self.known = (await self._record.read()).cards
        return found.get(card)

    async def isolate(self, card: str, owner: str, reason: str) -> str:
        """Take a card away from whatever uses it; asked twice it is done twice. Raises RefusedError for want of a hold, WireError."""
        self._check(card, self.find_refusal(card, owner))
        occasion = Occasion(card, self._serial_of(card), reason)
        said = await self._hooks.call("isolate", occasion) if self._hooks.has("isolate") else ""
        why, said = clean(reason)[:MOST_TEXT], clean(said)
        fenced = Fenced(since=self._clock.now(), owner=owner, reason=why, serial=occasion.serial, said=said)
        async with self._free:
            before = (await self._record.read()).cards
            await self._keep({**before, card: fenced if card not in before else msgspec.structs.replace(fenced, since=before[card].since)})
        await self.write_roster()
        return said

    async def release(self, card: str, reason: str) -> str:
        """Give a card back. Raises RefusedError while somebody holds it, WireError."""
        self._check(card, self.find_hindrance(card))
        said = await self._hooks.call("release", Occasion(card, self._serial_of(card), reason)) if self._hooks.has("release") else ""
        async with self._free:
            before = (await self._record.read()).cards
            if card in before:
                await self._keep({other: fenced for other, fenced in before.items() if other != card})
        await self.write_roster()
        return said

    def is_proven(self, card: str) -> bool:
        """Whether the card that is in the slot now has passed a test since it was fenced; as of the last look at the record."""
        fenced = (self.known or {}).get(card)
        return fenced is not None and fenced.proven == self._serial_of(card)

    async def note_passed(self, card: str, serial: str) -> None:
        """It has passed a test; of one that is not fenced nothing is written. Raises WireError."""
        async with self._free:
            before = (await self._record.read()).cards
            if card in before:
                await self._keep({**before, card: msgspec.structs.replace(before[card], proven=serial)})

    async def write_roster(self) -> None:
        """Say in `cards.json` what holds now. Raises WireError; while the holds are not known it stays as it is."""
        if self._holds.trouble:
            raise WireError(f"cards.json stays as it is: which cards are held is not known, {self._holds.trouble}")
        found = self.known = (await self._record.read()).cards
        fenced = {card: one.reason for card, one in found.items()}
        roster = make_roster(self.node, self.cards, serial=self._serial_of, holds=self._holds.of, fenced=fenced, spares=self._spares)
        await self._roster.write(roster)

    async def run(self) -> None:
        """Keep the roster true: at the start, at each change, and as holds expire; for ever."""
        while True:
            self._news.clear()
            try:
                await self._give_back_expired()
                await self.write_roster()
            except WireError as error:
                self._health.report("cards.json", f"may be out of date: {error}")
            else:
                self._health.report("cards.json", "")
            await self._wait()

    async def _give_back_expired(self) -> None:
        """What a person has taken away for a time comes back after it; a policy gives back by itself. Raises WireError."""
        if self._holds.trouble:
            return
        for card, fenced in (await self._record.read()).cards.items():
            if fenced.owner.startswith(BY_HAND) and not self._holds.of(card) and self._has_expired(card, fenced.owner):
                await self.release(card, f"the time that {fenced.owner} gave it is over")

    def _has_expired(self, card: str, owner: str) -> bool:
        mine = [hold for hold in self._holds.everything() if (hold.subject, hold.owner) == (card, owner)]
        return bool(mine) and mine[-1].lifted is None

    async def _wait(self) -> None:
        news = [asyncio.ensure_future(self._news.wait()), asyncio.ensure_future(self._clock.sleep(LOOK_AGAIN))]
        try:
            await asyncio.wait(news, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in news:
                task.cancel()

    async def _keep(self, cards: Mapping[str, Fenced]) -> None:
        await self._record.write(NODE, Record(dict(sorted(cards.items()))))
        self.known = cards

    def _check(self, card: str, refusal: str) -> None:
        if card not in self.cards:
            raise RefusedError(f"{card} is no card of {self.node}, which has {', '.join(self.cards) or 'none'}")
        if refusal:
            raise RefusedError(refusal)


def describe_holds(holds: tuple[Hold, ...]) -> str:
    """Who holds something and why, as a part of a sentence."""
    told = [f"{hold.owner} holds {hold.subject}{f' ({hold.serial})' if hold.serial else ''}: {hold.reason} [{hold.id}]" for hold in holds]
    return "; ".join(told)
