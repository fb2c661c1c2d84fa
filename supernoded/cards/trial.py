"""The test of a card that nothing uses: by the site's program, or by the card's own word and counters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from supernoded.cards.errands import Errand, Errands
from supernoded.cards.hooks import Occasion, SiteHooks
from supernoded.cards.watching import WATCHED, Key, Told, is_answer, judge_watch
from supernoded.clock import Clock
from supernoded.errors import FailedError, RefusedError, WireError
from supernoded.model import Reading

MOST = 20_000  # readings of one watch (ours)
WAITING = frozenset({"stopped", "gone"})  # states of ranks that use their card no more


def find_users(readings: Sequence[Reading], card: str) -> list[str]:
    """The ranks that run on a card, by what is read of all of them."""
    states = {reading.subject: reading.value for reading in readings if reading.quantity == "rank.state"}
    on_it = dict.fromkeys(reading.subject for reading in readings if reading.quantity == "rank.card" and reading.value == card)
    return [rank for rank in on_it if states.get(rank) not in WAITING]


class Trial:
    """Tests cards of this node. `find_ranks` tells which ranks run on a card now, `serial_of` which card is in a slot."""

    def __init__(
        self, hooks: SiteHooks, clock: Clock, test_s: float, find_ranks: Callable[[str], list[str]], serial_of: Callable[[str], str]
    ) -> None:
        self._hooks, self._clock, self.test_s, self.find_ranks, self._serial_of = hooks, clock, test_s, find_ranks, serial_of
        self.on_passed: list[Callable[[str, str], Awaitable[None]]] = []  # told card and serial number; they raise nothing
        self._errands = Errands(clock)
        self._latest: dict[str, dict[Key, Told]] = {}  # by card
        self._watches: dict[str, list[Told]] = {}  # of the cards under test

    def take(self, readings: Sequence[Reading], fresh_for: float) -> None:
        """What this node reads of its cards."""
        for reading in readings:
            if reading.quantity in WATCHED:
                told = Told(reading, reading.at + fresh_for)
                self._latest.setdefault(reading.subject, {})[reading.quantity, reading.source] = told
                if (watch := self._watches.get(reading.subject)) is not None and len(watch) < MOST:
                    watch.append(told)

    def is_testing(self, card: str) -> bool:
        """Whether a card is under test now."""
        return card in self._watches

    def find(self, key: str) -> Errand | None:
        """How a test stands."""
        return self._errands.find(key)

    def begin(self, key: str, card: str, serial: str = "", reason: str = "") -> None:
        """Test a card; under a key it is tested once, whatever came of it. Raises RefusedError while something runs on it."""
        if self._errands.find(key) is not None:
            return
        self._refuse_in_use(card)
        if card in self._watches:
            raise RefusedError(f"{card} is under test already; wait for its end")
        self._watches[card] = []
        self._errands.begin(key, self._test(card, serial or self._serial_of(card), reason))

    async def wait(self, key: str) -> None:
        """Until a test is over."""
        await self._errands.wait(key)

    def stop(self) -> None:
        """Give up what is under way."""
        self._errands.stop()

    def _refuse_in_use(self, card: str) -> None:
        ranks = self.find_ranks(card)
        if ranks:
            raise RefusedError(f"{card} is not tested: {', '.join(ranks[:4])} runs on it; stop the job or move its ranks first")

    async def _test(self, card: str, serial: str, reason: str) -> str:
        try:
            said = await self._run(card, serial, reason)
        except (FailedError, RefusedError):
            raise
        except WireError as error:  # of the program, and nothing of the card
            raise RefusedError(f"{card} was not tested; see to `hooks.test` and `hooks.test_s`: {error}") from error
        finally:
            self._watches.pop(card, None)
        for note in self.on_passed:
            await note(card, serial)
        return said

    async def _run(self, card: str, serial: str, reason: str) -> str:
        if self._hooks.has("test"):
            return f"passed: {await self._hooks.call('test', Occasion(card, serial, reason)) or 'the test ended with code 0'}"
        return await self._watch(card, serial)

    def _has_answered(self, since: float) -> bool:
        """Whether any card has, when the node has others that could."""
        known = [told.reading for of_card in self._latest.values() for told in of_card.values()]
        return len(self._latest) <= 1 or any(is_answer(reading) and reading.at > since for reading in known)

    async def _watch(self, card: str, serial: str) -> str:
        begin = self._clock.now()
        before = [told for _, told in sorted(self._latest.get(card, {}).items())]
        await self._clock.sleep(self.test_s)
        self._refuse_in_use(card)
        seen = judge_watch(before, self._watches[card], begin, self._clock.now(), serial)
        if seen.faults and not self._has_answered(begin):
            raise RefusedError(f"{card} was not tested: no card of its node answered in {self.test_s:g} s, so its tool is what hangs")
        if seen.faults:
            raise FailedError(f"{card} failed its test: {'; '.join(seen.faults)} ({seen.text})")
        return f"passed: watched for {self.test_s:g} s, {seen.text}"
