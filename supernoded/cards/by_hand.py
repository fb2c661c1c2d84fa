"""What people have done to this node's cards, here or through another node's daemon: the same words either way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from supernoded.cards.fence import Fence
from supernoded.cards.trial import Trial
from supernoded.clock import Clock
from supernoded.errors import RefusedError

CHANGE, LOOK = "card", "card.look"  # verbs between nodes
DO, CARD, OWNER, REASON, TEST = "do", "card", "owner", "reason", "test"  # details of a command
USERS = "users"  # what a look is for, where not for a test
SAID, PASSED, TEST_S = "said", "passed", "test_s"  # and of its answer

NEWS_WITHIN, LOOKS = 2.0, 20  # seconds that news of a hold may take from node to node, and looks at it meanwhile (ours)


class ByHand:
    """Isolates, releases and tests for people."""

    def __init__(self, fence: Fence, trial: Trial, clock: Clock, *, programs: Mapping[str, bool]) -> None:
        self._fence, self._trial, self._clock, self._programs = fence, trial, clock, programs
        self._numbers = count(1)

    async def change(self, details: Mapping[str, str]) -> Mapping[str, str]:
        """Do what is asked. Raises RefusedError with the sentence, or another WireError when it may have been done by half."""
        card, reason = details.get(CARD, ""), details.get(REASON, "")
        match details.get(DO):
            case "isolate":
                await self._wait_while(lambda: self._fence.find_refusal(card, details.get(OWNER, "")))
                said = await self._fence.isolate(card, details.get(OWNER, ""), reason)
                return {SAID: said or self._say_plainly("isolate", "is not to be used, says cards.json; whatever uses it now goes on")}
            case "release":
                await self._wait_while(lambda: self._fence.find_hindrance(card))
                said = await self._fence.release(card, reason)
                return {SAID: said or self._say_plainly("release", "may be used again, says cards.json")}
            case "test":
                return self._test(card, reason)
            case other:
                raise RefusedError(
                    f"{other!r} is nothing that is done to a card; it is isolate, release or test: run one version on all nodes"
                )

    def look(self, details: Mapping[str, str]) -> Mapping[str, str]:
        """How a test stands, or which ranks run on what. Raises RefusedError when there is no test of this id."""
        if details.get(DO) == USERS:
            return self._list_users(details.get(CARD, ""))
        test = details.get(TEST, "")
        errand = self._trial.find(test)
        if errand is None:
            raise RefusedError(f"there is no test {test!r}; a daemon that starts anew forgets them")
        told = {TEST: test, TEST_S: f"{self._trial.test_s:g}"}
        if errand.running:
            return {**told, SAID: f"under test for {self._clock.now() - errand.began:.0f} s"}
        return {**told, SAID: errand.trouble or errand.text, PASSED: "no" if errand.trouble else "yes"}

    def _list_users(self, subject: str) -> Mapping[str, str]:
        """By card, of one or of the whole node."""
        cards = [card for card in self._fence.cards if subject == card or card.startswith(f"{subject}/")]
        return {card: " ".join(ranks) for card in cards if (ranks := self._trial.find_ranks(card))}

    async def _wait_while(self, find_refusal: Callable[[], str]) -> None:
        """A hold was placed or lifted through another daemon a moment ago: that may come after the order."""
        for _ in range(LOOKS):
            if not find_refusal():
                return
            await self._clock.sleep(NEWS_WITHIN / LOOKS)

    def _test(self, card: str, reason: str) -> Mapping[str, str]:
        if card not in self._fence.cards:
            raise RefusedError(f"{card} is no card of this node, which has {', '.join(self._fence.cards) or 'none'}")
        test = f"hand/{self._clock.now():.3f}/{next(self._numbers)}"
        self._trial.begin(test, card, reason=reason)
        return self.look({TEST: test})

    def _say_plainly(self, verb: str, plain: str) -> str:
        return f"[hooks] {verb} has done it" if self._programs[verb] else f"{plain} (no [hooks] {verb} is set)"
