"""All holds that one node knows: in memory, in its journal, and told to the other nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from supernoded.clock import Clock
from supernoded.errors import JournalError
from supernoded.holds.merging import KEPT, MOST_TEXT, HoldError, find_end, find_flaw, merge, tidy
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.model import Hold

MOST = 10_000  # holds that are known at once; of those that are over the oldest are forgotten first (ours)
BATCH = 500  # of one transaction: some milliseconds, for which an intent may have to wait
AT_ONCE = 250  # that are told in one turn: a quarter of what may wait for the broker, so that commands still find room (ours)
TURN = 5.0  # seconds between two tries to write and to tell what is not yet

Tell = Callable[[Hold], bool]  # say it to the other nodes; False = there was no way to
Changed = Callable[[], None]


class Known(NamedTuple):
    """One hold as it is known here."""

    hold: Hold
    told: bool = False  # this node has placed or lifted it, and so tells it


class Holds:
    """All holds that this node knows. `tell` says one to the other nodes; give `on_change` what has to know of every change."""

    def __init__(self, node: str, journal: Journal, clock: Clock, tell: Tell) -> None:
        self.node = node
        self._journal, self._clock, self._tell = journal, clock, tell
        self._known: dict[str, Known] = {}
        self._sorted: tuple[Hold, ...] | None = None  # of `_known`, once somebody has asked
        self._by_subject: dict[str, list[Hold]] | None = None  # the same
        self._unwritten: dict[str, None] = {}
        self._untold: dict[str, None] = {}
        self.on_change: list[Changed] = []
        self.trouble = "they are not yet read from the journal"  # why not all of them are known; empty = they are

    # What is known ---------------------------------------------------------------------------------------------------------------

    def standing(self) -> tuple[Hold, ...]:
        """Those that keep something out of service now, by the time they were placed."""
        now = self._clock.now()
        return tuple(hold for hold in self.everything() if hold.stands(now))

    def everything(self) -> tuple[Hold, ...]:
        """Those too that were lifted or have expired within KEPT, in the same order."""
        if self._sorted is None:
            self._sorted = tuple(sorted((known.hold for known in self._known.values()), key=lambda hold: (hold.placed, hold.id)))
        return self._sorted

    def of(self, subject: str) -> tuple[Hold, ...]:
        """What keeps a subject out of service now: its own holds, and those of what it is a part of, such as its node."""
        if self._by_subject is None:
            self._by_subject = {}
            for hold in self.everything():
                self._by_subject.setdefault(hold.subject, []).append(hold)
        now, names = self._clock.now(), subject.split("/")
        above = ("/".join(names[:count]) for count in range(1, len(names) + 1))
        found = [hold for name in above for hold in self._by_subject.get(name, ()) if hold.stands(now)]
        return tuple(sorted(found, key=lambda hold: (hold.placed, hold.id)))

    def find(self, id_: str) -> Hold | None:
        """One hold, whether it stands or not."""
        known = self._known.get(id_)
        return None if known is None else known.hold

    # What is done ----------------------------------------------------------------------------------------------------------------

    async def place(self, hold: Hold) -> Hold:
        """Durable and told on return; the same id twice is one hold, and one that was lifted stays so.

        Raises JournalError when it cannot be made durable, HoldError for what can be none or finds no room: it is then not placed.
        """
        hold = tidy(msgspec.structs.replace(hold, reason=hold.reason[:MOST_TEXT]))
        self._vet(hold)
        return await self._keep(hold)

    async def lift(self, id_: str, by: str) -> Hold | None:
        """Durable and told on return; None when there is no such hold. Raises JournalError: it then stands."""
        known = self._known.get(id_)
        if known is None or known.hold.lifted is not None:
            return None if known is None else known.hold
        return await self._keep(tidy(msgspec.structs.replace(known.hold, lifted=self._clock.now(), lifted_by=by[:MOST_TEXT])))

    async def _keep(self, hold: Hold) -> Hold:
        known = self._known.get(hold.id)
        merged = hold if known is None else merge(known.hold, hold)
        if known != Known(merged, told=True):
            await self._journal.commit(entries.keep_holds([(merged, True)]))
            self._learn(merged, told=True, written=True)  # more of it may have been heard meanwhile
        return self._known[hold.id].hold

    # What is heard and told ------------------------------------------------------------------------------------------------------

    def hear(self, hold: Hold, teller: str = "") -> None:
        """Take in a copy of `teller`; it counts at once and is written soon. Raises HoldError."""
        if hold.id not in self._known and self._clock.now() - find_end(hold) > KEPT:
            return
        hold = tidy(hold)
        self._vet(hold)
        self._learn(hold)
        known = self._known[hold.id]
        if known.told and teller == self.node and known.hold != hold:
            self._say(known.hold)  # the broker has an old copy under our name

    async def take_up(self) -> None:
        """What earlier lives knew. Raises JournalError: what was heard meanwhile counts all the same."""
        for hold, told in await self._journal.ask(entries.holds(self._clock.now() - KEPT)):
            self._learn(hold, told=told, written=True)
        self.trouble = ""
        self._report()

    def republish(self) -> None:
        """Say again all that is ours to tell: for each new link, whose broker may have forgotten it. Many are said in turns."""
        self._untold.update((id_, None) for id_, known in self._known.items() if known.told)
        self._tell_some()

    async def run(self) -> None:
        """Write and tell later what could not be at once, and forget what was over long ago; for ever."""
        while True:
            await self._clock.sleep(TURN)
            await self.catch_up()

    async def catch_up(self) -> None:
        """One turn of `run`."""
        self._tell_some()
        try:
            await self._write()
        except JournalError:
            return  # the journal says so itself
        now = self._clock.now()
        for id_ in [id_ for id_, known in self._known.items() if now - find_end(known.hold) > KEPT]:
            self._forget(id_)

    async def _write(self) -> None:
        waiting = list(self._unwritten)
        for begin in range(0, len(waiting), BATCH):
            batch = waiting[begin : begin + BATCH]
            known = {id_: self._known[id_] for id_ in batch if id_ in self._known}
            await self._journal.commit(entries.keep_holds(known.values()))
            for id_ in batch:
                if self._known.get(id_) == known.get(id_):  # else more was heard meanwhile
                    self._unwritten.pop(id_, None)

    def _vet(self, hold: Hold) -> None:
        flaw = find_flaw(hold)
        if flaw is None and hold.id not in self._known and not self._make_room():
            flaw = f"{MOST:,} holds stand already, and this one finds no room: `supernodectl holds` lists them; lift what is over"
        if flaw is not None:
            raise HoldError(flaw)

    def _learn(self, hold: Hold, *, told: bool = False, written: bool = False) -> None:
        before = self._known.get(hold.id)
        after = Known(hold, told) if before is None else Known(merge(before.hold, hold), told or before.told)
        if after == before:
            return
        self._known[hold.id] = after
        self._sorted = self._by_subject = None
        if written and after == Known(hold, told):
            self._unwritten.pop(hold.id, None)
        else:
            self._unwritten[hold.id] = None
        if after.told:
            self._say(after.hold)
        if before is None or after.hold != before.hold:
            self._report()

    def _tell_some(self) -> None:
        for id_ in list(self._untold)[:AT_ONCE]:
            self._say(self._known[id_].hold)

    def _say(self, hold: Hold) -> None:
        if self._tell(hold):
            self._untold.pop(hold.id, None)
        else:
            self._untold[hold.id] = None

    def _report(self) -> None:
        for changed in self.on_change:
            changed()

    def _make_room(self) -> bool:
        if len(self._known) < MOST:
            return True
        now = self._clock.now()
        over = [(find_end(known.hold), id_) for id_, known in self._known.items() if not known.hold.stands(now)]
        if over:
            self._forget(min(over)[1])
        return bool(over)

    def _forget(self, id_: str) -> None:
        self._sorted = self._by_subject = None
        for kept in (self._known, self._unwritten, self._untold):
            kept.pop(id_, None)
