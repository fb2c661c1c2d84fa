"""What a remedy has done so far, by the names of its steps. Pure.

A name is `<round>-<verb>-<target>`: when the trouble is back in the same incident after things were undone, another round begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from supernoded.model import CAME_TO_NOTHING, COULD_NOT, Outcome, Result, Step
from supernoded.parts import Case

SENT = frozenset({Result.DONE, Result.UNCONFIRMED})  # its order may have arrived
UNSENT = frozenset({Result.REFUSED, Result.EXPIRED})
ASSUMED = "assumed"  # what the outcome of a rehearsed step says: it has had all the time it needs


class Deed(msgspec.Struct, frozen=True):
    """One step and what came of it; None while it is under way."""

    round: int
    verb: str
    target: str
    outcome: Outcome | None

    @property
    def sent(self) -> bool:
        """Whether its order may have arrived."""
        return self.outcome is not None and self.outcome.result in SENT

    @property
    def done(self) -> bool:
        """Whether its effect was seen."""
        return self.outcome is not None and self.outcome.result is Result.DONE

    @property
    def failed(self) -> bool:
        """Whether it was tried and is seen to have failed; what was only not seen in time may be well."""
        return self.outcome is not None and self.outcome.result is Result.UNCONFIRMED and self.outcome.text.startswith(CAME_TO_NOTHING)

    @property
    def refused(self) -> bool:
        """Whether nothing was done: somebody said no, or nobody could be asked."""
        return self.outcome is not None and self.outcome.result in UNSENT

    @property
    def hindered(self) -> bool:
        """Whether nothing was done because whoever should do it could not: that is to be mended there."""
        return self.outcome is not None and self.outcome.result is Result.REFUSED and self.outcome.text.startswith(COULD_NOT)

    @property
    def why(self) -> str:
        """What was said of its end, for a sentence of one's own."""
        return "" if self.outcome is None else self.outcome.text.removeprefix(CAME_TO_NOTHING).removeprefix(COULD_NOT).rstrip(".")


class Record(msgspec.Struct, frozen=True):
    """All that was done about one incident, and which round it is now; round 0 = nothing was, nor is to be."""

    deeds: tuple[Deed, ...]
    round: int

    def name(self, verb: str, target: str) -> str:
        """The name of a step of this round."""
        return f"{self.round}-{verb}-{target}"

    def list_round(self) -> list[Deed]:
        """The deeds of this round."""
        return [deed for deed in self.deeds if deed.round == self.round]

    def list_of(self, *verbs: str) -> list[Deed]:
        """The deeds of this round with one of these verbs."""
        return [deed for deed in self.deeds if deed.round == self.round and deed.verb in verbs]

    def has_begun(self, *verbs: str) -> bool:
        """Whether any step of these verbs was asked for in this round."""
        return bool(self.list_of(*verbs))

    def has_ended(self, *verbs: str) -> bool:
        """Whether any was, and each of them has its outcome."""
        return self.has_begun(*verbs) and all(deed.outcome is not None for deed in self.list_of(*verbs))

    def has_had(self, seconds: float, now: float, *verbs: str) -> bool:
        """Whether every step of these verbs has its outcome, and so long ago that its effect should show."""
        outcomes = [deed.outcome for deed in self.list_of(*verbs)]
        return all(one is not None and (one.text == ASSUMED or now - one.at >= seconds or one.at > now) for one in outcomes)

    def list_standing(self, verb: str, *undo: str) -> list[str]:
        """The targets of a verb, of all rounds, that may stand so still: it was not seen undone since."""
        standing: dict[str, None] = {}
        for deed in self.deeds:
            if deed.verb == verb and deed.sent:
                standing[deed.target] = None
            elif deed.verb in undo and deed.done:
                standing.pop(deed.target, None)
        return list(standing)

    def is_undone(self, target: str, *undo: str) -> bool:
        """Whether a target was seen undone in this round."""
        return any(deed.target == target and deed.done for deed in self.list_of(*undo))


def read_record(case: Case, undoing: AbstractSet[str], *, again: bool | None = None) -> Record:
    """Every step so far, those under way too, in the order of their outcomes.

    `undoing` are the verbs that end a round; `again` = whether the trouble is there now, where that is not what `case` says.
    """
    ended = sorted(case.done.items(), key=lambda one: one[1].at)
    running = ((name, None) for name in sorted(case.running))
    deeds = tuple(deed for name, outcome in (*ended, *running) if (deed := _parse(name, outcome)) is not None)
    return Record(deeds, _find_round(deeds, undoing, raised=case.still_raised if again is None else again))


def _parse(name: str, outcome: Outcome | None) -> Deed | None:
    number, _, rest = name.partition("-")
    verb, _, target = rest.partition("-")
    return Deed(int(number), verb, target, outcome) if number.isascii() and number.isdecimal() and target else None


def _find_round(deeds: Sequence[Deed], undoing: AbstractSet[str], *, raised: bool) -> int:
    last = max((deed.round for deed in deeds), default=0)
    if not raised:
        return last
    over = any(deed.round == last and deed.verb in undoing for deed in deeds)
    return last + 1 if over or not last else last


def take(case: Case, *batches: Iterable[Step]) -> tuple[Step, ...]:
    """The steps that are to be begun now: a batch begins when all of the one before have their outcome."""
    for batch in batches:
        wanted = [step for step in batch if step.name not in case.done]
        if wanted:
            return tuple(step for step in wanted if step.name not in case.running)
    return ()


def has_more_running(deeds: Iterable[Deed], verbs: tuple[str, ...], steps: Iterable[Step]) -> bool:
    """Whether a step of verbs that begin so is under way that is not among `steps`: of an earlier life, its target not heard again yet."""
    known = {step.name for step in steps}
    under_way = (deed for deed in deeds if deed.outcome is None and deed.verb.startswith(verbs))
    return any(f"{deed.round}-{deed.verb}-{deed.target}" not in known for deed in under_way)


def say_outcomes(record: Record, words: Mapping[str, str]) -> Iterator[str]:
    """What was done in this round, each verb as a part of a sentence: `4 of 4 nodes capped`."""
    for verb, said in words.items():
        outcomes = [deed.done for deed in record.list_of(verb) if deed.outcome is not None]
        if outcomes:
            yield f"{said}: {sum(outcomes)} of {len(outcomes)} seen"
