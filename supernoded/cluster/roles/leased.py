"""Roles that are leased in the site's database: taken, renewed, counted from before they were asked for, and given back."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from supernoded.clock import Clock
from supernoded.cluster.roles.bridging import Confirm, ask_nobody, find_objection, is_bridged
from supernoded.cluster.roles.seats import FixedSeats, Tenure
from supernoded.cluster.roles.tenancy import Asked, Tenancy
from supernoded.cluster.roles.views import Views
from supernoded.errors import JournalError
from supernoded.journal import entries
from supernoded.journal.entries import Bid, Round
from supernoded.journal.leases import STAGGER
from supernoded.journal.writer import Journal
from supernoded.model import NODE, Lease
from supernoded.settings import Seats as Terms
from supernoded.supervisor import Health

LISTEN = 1.0  # seconds before the first bid, in which the other holders' last words come in (ours)
RETRY = 1.0  # seconds until a database that has failed is asked again, and the candidates too
LATE = 1.0  # seconds by which an answer of the database may be late before it counts as lost (ours)
FAREWELL = 1.0  # seconds for giving back at the end


class LeasedSeats:
    """See `cluster.seats.Seats`. `candidates` are those of every role; `own` are the seats that need no lease (rings within one node).

    What it costs: a node that is a candidate has one connection, on which it asks once each `renew_s` for all its roles in one
    transaction: two statements where it only stands by, four where it renews or takes something. A site of 30 roles with 3 candidates
    each has at most 90 connections and 36 such transactions a second at 2.5 s; a node that is a candidate of nothing asks nothing.
    """

    def __init__(
        self,
        holder: str,
        own: FixedSeats,
        candidates: Mapping[str, Sequence[str]],
        terms: Terms,
        database: Journal,
        clock: Clock,
        views: Views,
        health: Health,
        log: logging.Logger,
    ) -> None:
        self._holder, self._own, self._terms, self._database = holder, own, terms, database
        self._clock, self._views, self._health = clock, views, health
        self._node, self._chance = holder.partition("#")[0], clock.stream("seats")
        self._candidates = {role: tuple(nodes) for role, nodes in sorted(candidates.items()) if self._node in nodes}
        self._tenancy = Tenancy(terms.term_s, clock, log)
        self._had = set[str]()
        self._began = clock.now()
        self._promised: dict[str, float] = {}  # roles that are left to a holder without the database, and until when
        self._objections: dict[str, str] = {}  # why a role is not kept without the database
        self._answered_at = -math.inf
        self._hurry = asyncio.Event()
        self._moved = asyncio.Event()  # something held was taken, renewed or given up
        self.confirm: Confirm = ask_nobody
        self.changed = asyncio.Event()
        self.on_change: list[Callable[[], None]] = []
        views.on_change.append(self._look_at_views)

    # What is known -----------------------------------------------------------------------------------------------------------------

    @property
    def held(self) -> list[str]:
        """See `Seats.held`."""
        return sorted([*self._own.held, *self._tenancy.list_good()])

    @property
    def tenures(self) -> list[Tenure]:
        """See `Seats.tenures`."""
        return sorted([*self._own.tenures, *self._tenancy.describe()], key=lambda tenure: tenure.role)

    @property
    def roles(self) -> Mapping[str, str]:
        """See `Seats.roles`: as the holders tell; what we hold we know better."""
        told = {role: node for role, node in self._views.roles().items() if node != self._node}
        return {**told, **self._own.roles, **dict.fromkeys(self._tenancy.list_good(), self._node)}

    @property
    def age(self) -> float:
        """See `Seats.age`."""
        return self._views.age()

    def epoch(self, role: str) -> int:
        """See `Seats.epoch`."""
        held = self._tenancy.find(role)
        return max(self._views.heard(role), held.epoch if held is not None else 0)

    def find_refusal(self, scope: str) -> str | None:
        """See `Seats.find_refusal`. The lease's age is looked at every time: this process may just have woken up (safety rule 16)."""
        if scope == NODE or scope in self._own.roles:
            return self._own.find_refusal(scope)
        held = self._tenancy.find(scope)
        if held is None:
            holder = self.roles.get(scope)
            return f"{holder} has the role {scope}" if holder is not None else f"this node does not have the role {scope}"
        age = self._tenancy.age(held)
        if age < self._tenancy.good_for:
            return None
        self._hurry.set()
        return (
            f"the lease of {scope} was asked for {age:.1f} s ago and is good for {self._tenancy.good_for:g} s: it has to be renewed first"
        )

    # Asking the database -----------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """See `Seats.run`."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch(), name="seats: ends")
            group.create_task(self._bridge(), name="seats: bridging")
            await self._clock.sleep(LISTEN)
            while True:
                self._hurry.clear()
                pause = await self._bid()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._hurry.wait(), pause * (0.9 + 0.1 * self._chance.random()))

    async def _bid(self) -> float:
        """Ask once for all; seconds until it is to be asked again."""
        bids, asked = self._list_bids(), self._tenancy.ask()
        if not bids:
            return self._terms.renew_s
        try:
            found = await self._database.commit(entries.bid(bids, self._holder, asked.now, self._terms.term_s))
        except JournalError:  # the journal says so itself
            return RETRY
        self._answered_at = asked.now
        self._take_note(found, asked)
        return min([self._terms.renew_s, *(self._find_vacancy(lease, found.time) for lease in found.others.values())])

    def _list_bids(self) -> list[Bid]:
        """All that may be ours. What is held by another's own word, or was promised, is only looked at."""
        now, bids = self._clock.now(), []
        for role, nodes in self._candidates.items():
            seen = self._views.find(role)
            taken = seen is not None and seen.node not in ("", self._node) and now < min(seen.until, seen.at + self._terms.term_s)
            left = self._promised.get(role, now) > now
            only_look = self._tenancy.find(role) is None and (taken or left)
            young = is_bridged(role) and now < self._began + self._terms.term_s  # a promise of an earlier life may stand yet
            bids.append(Bid(role, nodes[: nodes.index(self._node)], self._views.reached(role), role in self._had, only_look, young))
        return bids

    def _find_vacancy(self, lease: Lease, time: float) -> float:
        """Seconds until a role of another may be ours, if it is not renewed."""
        nodes, last = self._candidates[lease.role], lease.holder.partition("#")[0]
        return max(lease.until - time + STAGGER * sum(1 for node in nodes[: nodes.index(self._node)] if node != last), 0.1)

    def _take_note(self, found: Round, asked: Asked) -> None:
        for role, lease in found.ours.items():
            if self._promised.get(role, asked.now) > asked.now:  # it was promised while we asked
                self._database.post(entries.release_lease(role, self._holder, lease.epoch))
                continue
            self._had.add(role)
            self._objections.pop(role, None)
            self._health.report(f"role {role}", "")
            if self._tenancy.renew(role, lease.epoch, asked):
                self._tell_change()
        for role, lease in found.others.items():
            if self._tenancy.find(role) is not None:
                self._drop(role, f"{lease.holder} has it with epoch {lease.epoch}")
            self._name_rival(role, lease)
        self._moved.set()

    def _name_rival(self, role: str, lease: Lease) -> None:
        rival = lease.holder.partition("#")[0] == self._node
        if rival or role in self._had:
            text = f"another daemon that calls itself {self._node} has taken it ({lease.holder}): give one of them another name"
            self._health.report(f"role {role}", text if rival else "")

    # Giving up ---------------------------------------------------------------------------------------------------------------------

    def _drop(self, role: str, why: str) -> None:
        self._tenancy.drop(role, why)
        self._tell_change()

    def _tell_change(self) -> None:
        self.changed.set()
        for tell in self.on_change:
            tell()

    def step_down(self, role: str, epoch: int, why: str) -> None:
        """See `Seats.step_down`. It is not bid for again at once: a duty that cannot go on would begin and end without a pause."""
        held = self._tenancy.find(role)
        if held is not None and held.epoch == epoch:
            self._drop(role, why)

    def _look_at_views(self) -> None:
        for role, held in self._tenancy.list_good().items():
            seen = self._views.find(role)
            if seen is not None and seen.epoch > held.epoch and seen.node not in ("", self._node):
                self.step_down(role, held.epoch, f"{seen.node} tells that it has it with epoch {seen.epoch}")

    async def _watch(self) -> None:
        """Give up what has run out, also while the database hangs."""
        while True:
            self._moved.clear()
            for role in self._tenancy.list_spent():
                objection = self._objections.pop(role, "")
                self._drop(role, f"its lease has run out, and the database does not renew it{objection and f': {objection}'}")
            ends = [self._tenancy.left(held) for held in self._tenancy.list_good().values()]
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), min(ends, default=None))

    async def give_back(self) -> None:
        """See `Seats.give_back`."""
        held = self._tenancy.list_good()
        for role in held:
            self._tenancy.drop(role, "this daemon ends", logging.INFO)
        if self._is_lost():
            return
        with suppress(TimeoutError, JournalError):  # then the next holder waits until it has run out
            async with asyncio.timeout(FAREWELL):
                for role, one in held.items():
                    await self._database.commit(entries.release_lease(role, self._holder, one.epoch))

    # Without the database ----------------------------------------------------------------------------------------------------------

    def _is_lost(self) -> bool:
        """Whether the database has not answered for longer than it should."""
        return self._clock.now() - self._answered_at > self._terms.renew_s + LATE

    def is_vacant(self, role: str) -> bool:
        """See `Seats.is_vacant`: it is a promise. Who can reach the database makes none: one of those takes it when it is vacant."""
        if role not in self._candidates:
            return role not in self._own.held
        if self._tenancy.find(role) is not None or not self._is_lost():
            return False
        self._promised[role] = self._clock.now() + self._terms.term_s
        return True

    async def _bridge(self) -> None:
        """Of the roles that may be kept without the database (design section 10), keep those that nobody else has or can take."""
        while True:
            await self._clock.sleep(RETRY)
            due = [role for role, held in self._tenancy.list_good().items() if self._tenancy.left(held) < self._tenancy.good_for / 2]
            if due and self._is_lost():
                await asyncio.gather(*(self._ask_others(role) for role in due if is_bridged(role)))

    async def _ask_others(self, role: str) -> None:
        held, asked = self._tenancy.find(role), self._tenancy.ask()
        others = [node for node in self._candidates[role] if node != self._node]
        objection = await find_objection(role, others, self.confirm)
        if held is None or self._tenancy.find(role) is not held:  # it was renewed or given up meanwhile
            return
        if objection:
            self._objections[role] = objection
            self._health.report(f"role {role}", f"the database is lost, and it cannot be kept past its lease: {objection}")
            return
        self._health.report(f"role {role}", "the database is lost; it is kept past its lease, since no candidate has it or can take it")
        self._tenancy.bridge(role, asked)
        self._moved.set()
