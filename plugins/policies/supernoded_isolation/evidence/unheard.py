"""Jobs of which some ranks are not heard any more, such as those of a node that is gone, and what their other ranks do. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import msgspec

from supernoded.plugin import View
from supernoded_isolation.evidence.ranks import CARD, HANGING, RANK_WATCHES, STATE, has_ended

GONE, FLEET = "fleet.gone", "fleet"
_CARD = re.compile(r"[^/@]+/card\d{1,4}", re.ASCII)
UNHEARD_WATCHES: Mapping[str, float] = {**RANK_WATCHES, GONE: 60.0}


class Torn(msgspec.Struct, frozen=True):
    """A job of which not all ranks are heard."""

    subject: str
    unheard: Mapping[int, str]  # rank -> the card that it was on when it was heard last
    states: Mapping[int, str]  # of the ranks that are heard

    @property
    def stands(self) -> bool:
        """Whether some of the others are heard, and none of them steps, saves or says that it does something else."""
        return bool(self.states) and set(self.states.values()) <= HANGING

    @property
    def suspects(self) -> tuple[int, ...]:
        """The heard ranks for which the other heard ones wait: what holds the job up may be theirs, and not that of who is not heard."""
        waits = "waiting" in self.states.values()
        return tuple(rank for rank, state in sorted(self.states.items()) if waits and state != "waiting")

    def list_on(self, nodes: Collection[str]) -> dict[int, str]:
        """The unheard ranks that were on one of these nodes."""
        return {rank: card for rank, card in self.unheard.items() if card.partition("/")[0] in nodes}


def list_torn(seen: View, only: str = "") -> list[Torn]:
    """All jobs of which a rank is not heard, or that one."""
    unheard: dict[str, dict[int, str]] = {}
    states: dict[str, dict[int, str]] = {}
    for subject in seen.subjects(CARD):
        job, _, number = subject.rpartition("/rank")
        if not number.isdecimal() or (only and job != only):
            continue
        state = seen.text(STATE, subject)
        if state is not None and state != "stopped":
            states.setdefault(job, {})[int(number)] = state
        elif state is None and (card := _find_last_card(seen, subject)) and not has_ended(seen, subject):
            unheard.setdefault(job, {})[int(number)] = card
    return [Torn(job, ranks, states.get(job, {})) for job, ranks in unheard.items()]


def _find_last_card(seen: View, rank: str) -> str:
    """Where it was last, whichever node has told so: a rank that has moved was told by another one before. Empty for what is no card."""
    told = (seen.newest(CARD, rank, source) for source in seen.sources(CARD, rank))
    last = max((one for one in told if one is not None), key=lambda one: one.at, default=None)
    return last.value if last is not None and isinstance(last.value, str) and _CARD.fullmatch(last.value) else ""


def list_gone(seen: View) -> frozenset[str] | None:
    """The nodes that are gone, by two views; None = that is not known now."""
    return seen.flags(GONE, FLEET)


def say_ranks(ranks: Collection[int]) -> str:
    """`ranks 4 to 7`, `rank 3`, `ranks 1, 5 and 6 others`."""
    numbers = sorted(ranks)
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"ranks {numbers[0]} to {numbers[-1]}"
    few = ", ".join(map(str, numbers[:8]))
    return f"ranks {few}{f' and {len(numbers) - 8} others' if len(numbers) > 8 else ''}"
