"""The site's own programs: how a card is taken away and given back, how it is tested, how a node leaves the scheduler."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from supernoded.cards.subjects import find_node, find_slot
from supernoded.errors import FailedError, WireError
from supernoded.model import NODE
from supernoded.settings.cluster import BLANKS, Hooks
from supernoded.wire import Wires

Verb = Literal["isolate", "release", "test", "drain", "undrain"]

LAST_WORDS = 300  # characters of what a program printed last that are passed on (ours)
# Codes that are no verdict: 75 is "not now" (EX_TEMPFAIL of BSD's sysexits.h), and by the others a shell says that it could not start what
# it should (POSIX.1-2017, Shell, 2.8.2).
NO_VERDICT = (75, 126, 127)
_BLANK = re.compile(rf"\{{({'|'.join(BLANKS)})\}}")


@dataclass(frozen=True)
class Occasion:
    """What a program is called for. `subject` is a card or a node."""

    subject: str
    serial: str = ""
    reason: str = ""


def fill_in(words: Sequence[str], occasion: Occasion) -> tuple[str, ...]:
    """The program and its arguments; what a reason says is never taken for a blank, and never more than one argument."""
    slot = find_slot(occasion.subject)
    told = {
        "card": occasion.subject,
        "slot": "" if slot is None else str(slot),
        "node": find_node(occasion.subject),
        "serial": occasion.serial,
        "reason": "".join(char if char.isprintable() else " " for char in occasion.reason),
    }
    return tuple(_BLANK.sub(lambda found: told[found[1]], word) for word in words)


class SiteHooks:
    """Runs them, each verb one at a time: whoever waits for another card's turn loses no time of its own."""

    def __init__(self, table: Hooks, wires: Wires) -> None:
        self._table, self._wires = table, wires
        self._free: dict[Verb, asyncio.Lock] = {}

    def has(self, verb: Verb) -> bool:
        """Whether the settings name a program for it."""
        return bool(self._words(verb))

    async def call(self, verb: Verb, occasion: Occasion) -> str:
        """Run it to its end, and give what it printed last.

        Raises FailedError when it ends with a code that is its own; another WireError when it cannot do it now or cannot be
        started, as `NO_VERDICT` tells, or is killed, for its time or by a signal.
        """
        words = self._words(verb)
        fixed = tuple(takewhile(lambda word: _BLANK.search(word) is None, words)) or words[:1]
        arguments = fill_in(words[len(fixed) :], occasion)
        within = self._table.test_s if verb == "test" else self._table.within_s
        async with self._free.setdefault(verb, asyncio.Lock()):
            answer = await self._wires.command(fixed).order(NODE, *arguments, within=within)
        said = find_last_words(answer.err) or find_last_words(answer.out)
        if answer.code != 0:
            how = f"ended with code {answer.code}" if answer.code > 0 else f"was ended by signal {-answer.code}"
            text = f"[hooks] {verb}: {' '.join((*fixed, *arguments))[:LAST_WORDS]} {how}{': ' if said else ''}{said}"
            raise FailedError(text) if answer.code > 0 and answer.code not in NO_VERDICT else WireError(text)
        return find_last_words(answer.out) or said

    def _words(self, verb: Verb) -> tuple[str, ...]:
        found: tuple[str, ...] = getattr(self._table, verb)
        return found


def find_last_words(text: str) -> str:
    """The last line that says something, cut to what a sentence bears."""
    lines = [" ".join(line.split()) for line in text[-10 * LAST_WORDS :].splitlines()]
    return next((line[:LAST_WORDS] for line in reversed(lines) if line), "")
