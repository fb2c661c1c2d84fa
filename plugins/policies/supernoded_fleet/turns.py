"""Of whom a rule speaks: of all who are in trouble, of each once when that changes, and of the others in turns. Pure.

A site of thousands is judged twice a second, and to say of each that it is well each time is most of what that costs. So it is with those
of whom nothing is known: when our own link is in doubt that is everybody, and just then there is no time for words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from supernoded.plugin import Level, Verdict

MOST = 64  # of those that are well or not known who are spoken of at one question: on a small site everybody is (ours)


class Turn(msgspec.Struct, frozen=True):
    """What is remembered from one question to the next."""

    raised: frozenset[str] = frozenset()  # who was in trouble when last spoken of
    unsure: frozenset[str] = frozenset()  # of whom it could not be told
    place: int = 0  # among all, where the turn of the others has come to


def choose(names: Sequence[str], odd: AbstractSet[str], unknown: AbstractSet[str], turn: Turn) -> list[str]:
    """Of whom is spoken now: `odd` = who has to be looked at closely, `unknown` = of whom nothing can be told."""
    if len(names) <= MOST:
        return list(names)
    begin = turn.place % len(names)
    due = {*odd, *turn.raised, *(turn.unsure ^ unknown), *names[begin : begin + MOST]}
    return [name for name in names if name in due]


def pass_turn(names: Sequence[str], said: Iterable[Verdict], turn: Turn) -> Turn:
    """What is remembered after that."""
    levels = {one.subject: one.level for one in said}
    raised, unsure = (
        frozenset(name for name in before if name not in levels) | {name for name, now in levels.items() if now is level}
        for before, level in ((turn.raised, Level.RAISED), (turn.unsure, Level.UNSURE))
    )
    place = turn.place % len(names) + MOST if len(names) > MOST else 0
    return Turn(raised, unsure, place if place < len(names) else 0)
