"""Cards and holds for people: what is known of them, and what is done by hand."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Mapping, Sequence

from supernoded.admin.desk import Caller
from supernoded.cards.by_hand import CARD, CHANGE, DO, LOOK, OWNER, PASSED, REASON, SAID, TEST, TEST_S, USERS
from supernoded.cards.fence import describe_holds
from supernoded.cards.showing import Known, gather, judge_state
from supernoded.cards.subjects import find_node, find_slot, list_all_cards
from supernoded.cards.trial import find_users
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.words import Command, Reply, answer_to
from supernoded.errors import AdminError, RefusedError, WireError
from supernoded.holds import HoldError
from supernoded.house import House
from supernoded.messages import (
    CardDone,
    CardFilter,
    CardRow,
    Cards,
    CardTested,
    HoldFilter,
    Holds,
    IsolateAsk,
    LiftAsk,
    ReleaseAsk,
    TestAsk,
)
from supernoded.model import Hold, Reading, State, hold_id

SLACK = 3.0  # seconds for the way to another node and back, beside what its program takes
LONGEST = 60.0  # seconds that is waited for another node

FindName = Callable[[int], Awaitable[str]]


def serve_hands(house: House) -> None:
    """Do to this node's cards what people ask of another node's daemon."""

    async def change(command: Command) -> Reply:
        return answer_to(command, details=await house.cards.by_hand.change(command.details))

    async def look(command: Command) -> Reply:
        return answer_to(command, details=house.cards.by_hand.look(command.details))

    house.commander.serve(CHANGE, change)
    house.commander.serve(LOOK, look, changes=False)


class CardDesk:
    """See `admin.desk.CardDesk`."""

    def __init__(self, house: House, find_name: FindName) -> None:
        self._h, self._find_name = house, find_name

    def _now(self) -> float:
        return self._h.clock.now()

    @property
    def _commander(self) -> Commander:
        return self._h.commander

    async def list_holds(self, wanted: HoldFilter) -> Holds:
        """See `CardDesk.list_holds`."""
        return Holds(now=self._now(), holds=self._h.holds.everything() if wanted.all else self._h.holds.standing())

    async def lift(self, id_: str, wanted: LiftAsk, caller: Caller) -> Holds:
        """See `CardDesk.lift`."""
        name = await self._find_name(caller.uid)
        before = self._h.holds.find(id_)
        if before is None:
            raise AdminError(f"there is no hold {id_!r}; `supernodectl holds --all` lists them")
        if before.lifted is not None:
            raise AdminError(f"hold {id_} was lifted already, by {before.lifted_by}")
        lifted = await self._h.holds.lift(id_, f"operator {name}: {wanted.reason}")
        return Holds(now=self._now(), holds=() if lifted is None else (lifted,))

    async def list_cards(self, wanted: CardFilter) -> Cards:
        """See `CardDesk.list_cards`."""
        site, readings = self._h.settings.topology, self._h.readings()
        by_card: dict[str, list[Reading]] = {card: [] for card in list_all_cards(site)}
        for reading in readings:
            if reading.subject in by_card:
                by_card[reading.subject].append(reading)
        ranks = find_all_users(readings) | await self._ask_users(wanted.subject)
        spares, incidents = {spare.card for spare in site.spares}, self._h.incidents
        rows = []
        for card, found in by_card.items():
            known = gather(
                card,
                found,
                holds=self._h.holds.of(card),
                incidents=incidents,
                spares=spares,
                ranks=ranks,
                testing=self._h.cards.trial.is_testing(card),
                fenced=self._h.cards.fence.is_fenced(card),
            )
            rows.append(make_row(card, known, found, site.serial(card)))
        return Cards(now=self._now(), cards=tuple(rows))

    async def _ask_users(self, subject: str) -> dict[str, tuple[str, ...]]:
        """The ranks on cards of another node, by its own word; none where that cannot be had: without it nothing is fenced either."""
        if not subject or find_node(subject) == self._h.settings.node:
            return {}
        try:
            reply = await self._commander.ask(find_node(subject), LOOK, details={DO: USERS, CARD: subject})
        except WireError:
            return {}
        return {card: tuple(ranks.split()) for card, ranks in reply.details.items()}

    async def isolate(self, subject: str, wanted: IsolateAsk, caller: Caller) -> CardDone:
        """See `CardDesk.isolate`."""
        self._check(subject)
        owner, now = f"operator {await self._find_name(caller.uid)}", self._now()
        hold = await self._place(subject, owner, wanted, now)
        until = "until it is lifted" if hold.expires is None else f"for {_say_time(hold.expires - now)}"
        before = f" since {_say_time(now - hold.placed)} already ({hold.reason})" if hold.placed < now else ""
        done, undone = [f"{subject} is held as {hold.id}{before}, {until}: nothing puts it into service"], list[str]()
        if find_slot(subject) is None:
            undone.append(f"{subject} is a node: what runs on it goes on, and its scheduler was not asked to drain it")
        elif wanted.fence:
            await self._fence("isolate", subject, owner, wanted.reason, done, undone)
        else:
            undone.append(f"{subject} is not fenced yet")
        ranks = find_users(self._h.readings(), subject)
        undone += [f"{', '.join(ranks[:8])} still runs on it"] if ranks else []
        return CardDone(now=self._now(), subject=subject, hold=hold.id, done=tuple(done), undone=tuple(undone))

    async def _place(self, subject: str, owner: str, wanted: IsolateAsk, now: float) -> Hold:
        """One person holds a card once, however often he asks."""
        mine = next((hold for hold in self._h.holds.standing() if (hold.subject, hold.owner) == (subject, owner)), None)
        if mine is not None:
            return mine
        hold = Hold(
            id=hold_id(owner, subject, f"{now:.6f}"),
            subject=subject,
            serial=self._find_serial(subject),
            reason=wanted.reason,
            owner=owner,
            placed=now,
            expires=None if wanted.expires_s is None else now + wanted.expires_s,
            cause="operator",
            node=self._h.settings.node,
        )
        try:
            return await self._h.holds.place(hold)
        except HoldError as error:
            raise AdminError(str(error)) from error

    async def release(self, subject: str, wanted: ReleaseAsk, caller: Caller) -> CardDone:
        """See `CardDesk.release`."""
        self._check(subject)
        owner = f"operator {await self._find_name(caller.uid)}"
        mine = [hold for hold in self._h.holds.standing() if (hold.subject, hold.owner) == (subject, owner)]
        for hold in mine:
            await self._h.holds.lift(hold.id, f"{owner}: {wanted.reason}")
        done, undone = [f"hold {hold.id} is lifted" for hold in mine] or [f"{owner} holds nothing on {subject}"], list[str]()
        others = self._h.holds.of(subject)
        if others:
            undone.append(f"{subject} stays out of service: {describe_holds(others)}; `supernodectl holds lift ID --reason TEXT` ends that")
        elif find_slot(subject) is not None:
            await self._fence("release", subject, owner, wanted.reason, done, undone)
        return CardDone(now=self._now(), subject=subject, done=tuple(done), undone=tuple(undone))

    async def test(self, subject: str, wanted: TestAsk, caller: Caller) -> CardTested:
        """See `CardDesk.test`."""
        self._check(subject)
        owner = f"operator {await self._find_name(caller.uid)}"
        details = {DO: "test", CARD: subject, OWNER: owner, REASON: wanted.reason or f"asked for by {owner}"}
        return self._to_tested(subject, await self._ask(subject, CHANGE, details))

    async def find_test(self, subject: str, test: str) -> CardTested:
        """See `CardDesk.find_test`."""
        self._check(subject)
        return self._to_tested(subject, await self._ask(subject, LOOK, {CARD: subject, TEST: test}))

    def _to_tested(self, subject: str, told: Mapping[str, str]) -> CardTested:
        passed = {"yes": True, "no": False}.get(told.get(PASSED, ""))
        seconds = self._h.settings.hooks.test_s if not told.get(TEST_S) else float(told[TEST_S])
        return CardTested(now=self._now(), subject=subject, test=told.get(TEST, ""), passed=passed, text=told.get(SAID, ""), test_s=seconds)

    async def _fence(self, what: str, subject: str, owner: str, reason: str, done: list[str], undone: list[str]) -> None:
        """By the card's own node; what fails is said, and the hold stands all the same."""
        try:
            reply = await self._commander.ask(
                find_node(subject),
                CHANGE,
                details={DO: what, CARD: subject, OWNER: owner, REASON: reason},
                within=min(self._h.settings.hooks.within_s + SLACK, LONGEST),
            )
        except WireError as error:
            undone.append(f"{subject} is not {what}d by its node: {error}")
        else:
            said = reply.details.get(SAID, "")
            done.append(said if said.startswith(subject) else f"{subject}: {said}")  # a site's program often names the card itself

    async def _ask(self, subject: str, verb: str, details: Mapping[str, str]) -> Mapping[str, str]:
        try:
            return (await self._commander.ask(find_node(subject), verb, details=details)).details
        except RefusedError as error:
            raise AdminError(str(error)) from error

    def _check(self, subject: str) -> None:
        site = self._h.settings.topology
        known = [*list_all_cards(site), *(node.name for node in site.nodes)]
        if subject not in known:
            near = difflib.get_close_matches(subject, known, n=1)
            remedy = f"did you mean {near[0]}?" if near else "`supernodectl cards` lists the cards"
            raise AdminError(f"there is no card or node {subject!r} in the topology; {remedy}")

    def _find_serial(self, subject: str) -> str:
        good = (r for r in self._h.readings() if (r.subject, r.quantity, r.state) == (subject, "card.serial", State.GOOD))
        return next((str(reading.value) for reading in good), self._h.settings.topology.serial(subject))


def make_row(card: str, known: Known, readings: Sequence[Reading], described: str) -> CardRow:
    """A card for people; `described` is its serial number as the topology has it."""
    state, text = judge_state(known)
    good = [reading for reading in readings if reading.state is State.GOOD]
    flags = {flag for one in good if one.quantity == "card.health" and isinstance(one.value, frozenset) for flag in one.value}
    return CardRow(
        subject=card,
        serial=known.serial or described,
        state=state.value,
        text=text,
        ranks=known.ranks,
        temperature=max((one.value for one in good if one.quantity == "card.temperature" and isinstance(one.value, float)), default=None),
        health=tuple(sorted(flags)),
        holds=tuple(hold.id for hold in known.holds),
    )


def _say_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600.0 else f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.3g} h"


def find_all_users(readings: Sequence[Reading]) -> dict[str, tuple[str, ...]]:
    """The ranks on each card."""
    cards = dict.fromkeys(str(reading.value) for reading in readings if reading.quantity == "rank.card" and reading.value)
    return {card: tuple(find_users(readings, card)) for card in cards}
