"""What a remedy has done so far, by the names of its steps. Pure.

A name is `<round>-<verb>-<target>`: when the mains go again in the same incident, another round begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from supernoded.plugin import Case, Outcome, Result, Step

SENT = frozenset({Result.DONE, Result.UNCONFIRMED})  # its order may have arrived


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


def name_step(number: int, verb: str, target: str) -> str:
    """The name of a step of a round."""
    return f"{number}-{verb}-{target}"


def list_deeds(case: Case) -> list[Deed]:
    """Every step so far, those under way too, in the order of their outcomes."""
    ended = sorted(case.done.items(), key=lambda one: one[1].at)
    return [deed for name, outcome in (*ended, *((name, None) for name in sorted(case.running))) if (deed := _parse(name, outcome))]


def _parse(name: str, outcome: Outcome | None) -> Deed | None:
    number, _, rest = name.partition("-")
    verb, _, target = rest.partition("-")
    return Deed(int(number), verb, target, outcome) if number.isdecimal() and target else None


def find_round(deeds: Sequence[Deed], returning: frozenset[str], *, away: bool) -> int:
    """Which round it is: a new one when it is away again after steps of returning. 0 = nothing was ever done, nor is to be."""
    last = max((deed.round for deed in deeds), default=0)
    if not away:
        return last
    over = any(deed.round == last and deed.verb in returning for deed in deeds)
    return last + 1 if over or not last else last


def take(case: Case, *batches: Iterable[Step]) -> tuple[Step, ...]:
    """The steps that are to be begun now: a batch begins when all of the one before have their outcome."""
    for batch in batches:
        wanted = [step for step in batch if step.name not in case.done]
        if wanted:
            return tuple(step for step in wanted if step.name not in case.running)
    return ()


def has_more_running(deeds: Iterable[Deed], verbs: tuple[str, ...], steps: Iterable[Step]) -> bool:
    """Whether a step of these verbs is under way that is not among `steps`: of an earlier life, its job not heard again yet."""
    known = {step.name for step in steps}
    under_way = (deed for deed in deeds if deed.outcome is None and deed.verb.startswith(verbs))
    return any(name_step(deed.round, deed.verb, deed.target) not in known for deed in under_way)


def say_outcomes(deeds: Iterable[Deed], number: int, words: dict[str, str]) -> Iterator[str]:
    """What was done in a round, each verb as a part of a sentence: `8 of 8 nodes capped`."""
    mine = [deed for deed in deeds if deed.round == number]
    for verb, said in words.items():
        outcomes = [deed.done for deed in mine if deed.verb == verb and deed.outcome is not None]
        if outcomes:
            yield f"{said}: {sum(outcomes)} of {len(outcomes)} seen"
