"""Stages: each is passed, waits, asks for steps, or stops the saga. It knows record and world alone, so any life can go on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from supernoded.plugin import ASSUMED, Case, Deed, Record, Result, Step, View, World
from supernoded_isolation.health import Table
from supernoded_isolation.saga.place import Place
from supernoded_isolation.settings import IsolationSettings

TRIES = 2  # of each stage; then a person decides (fleet, threads 9 to 11)
LEAST_PAUSE_S, MOST_PAUSE_S = 30.0, 600.0  # from a refusal to the next time that it is asked for (ours)
PAUSE_SHARE = 1.0 / 60.0  # of the time that it is refused for: half a minute in the first half an hour, ten minutes after ten hours (ours)
DIGITS = "0123456789"


class Stop(msgspec.Struct, frozen=True):
    """It cannot go on: what is done stays done, and people are told. `is_over` = nobody has to do anything about it."""

    text: str
    is_over: bool = False


Steps = tuple[Step, ...]
Answer = Steps | Stop | None  # None = passed; no steps = wait


class Scene(msgspec.Struct, frozen=True):
    """One look at a case."""

    case: Case
    world: World
    now: float
    record: Record
    place: Place
    table: Table
    settings: IsolationSettings

    @property
    def seen(self) -> View:
        """What is read."""
        return self.case.seen


Stage = Callable[[Scene], Answer]


class Order(msgspec.Struct, frozen=True):
    """What a stage asks for. `key` is its target in the step's name, where that differs."""

    verb: str
    kind: str
    target: str
    reason: str
    patience: float
    key: str = ""
    details: Mapping[str, str] = {}
    amount: float | None = None


def find_deeds(record: Record, verb: str) -> list[Deed]:
    """All tries of a verb in this round, whatever their targets: `abort`, `abort2` and so on."""
    return [deed for deed in record.list_round() if deed.verb.startswith(verb) and not deed.verb[len(verb) :].strip(DIGITS)]


def name_try(verb: str, number: int) -> str:
    """`abort`, `abort2`."""
    return verb if number == 1 else f"{verb}{number}"


def is_done(record: Record, verb: str) -> bool:
    """Whether one try of it was seen done."""
    return any(deed.done for deed in find_deeds(record, verb))


def is_sent(record: Record, verb: str) -> bool:
    """Whether its order may have arrived, or is under way."""
    return any(deed.sent or deed.outcome is None for deed in find_deeds(record, verb))


def attempt(scene: Scene, order: Order, tries: int = TRIES, *, by_leave: bool = False, stands_still: bool = False) -> Answer:
    """Ask for it, again if it came to nothing, and stop with what was said when the tries are used up.

    What is done by somebody's leave only is asked for again as long as that is refused, which is no try; nor is it one while a job stands
    still and nobody could be asked: an outage may outlast all tries, and nobody else brings that job back.
    """
    deeds = find_deeds(scene.record, order.verb)
    if any(deed.done for deed in deeds):
        return None
    spared = [deed for deed in deeds if (by_leave and deed.refused) or (stands_still and is_unreached(deed))]
    told = _tell_unreached(scene, order, spared) if stands_still and len(spared) >= TRIES else ()
    if any(deed.outcome is None for deed in deeds) or is_resting(spared, scene.now):
        return told
    if len(deeds) - len(spared) < tries:
        return (*told, make_step(scene, order, name_try(order.verb, len(deeds) + 1)))
    return Stop(f"{order.kind} on {order.target} came to nothing in {tries} tries: {say_last(deeds)}")


def is_unreached(deed: Deed) -> bool:
    """Whether nobody was told to do it, as whoever should could not be reached."""
    return deed.outcome is not None and deed.outcome.result is Result.EXPIRED


def _tell_unreached(scene: Scene, order: Order, deeds: Sequence[Deed]) -> Steps:
    still = f"{order.target} stands still, and {order.kind} cannot be asked for"
    return notify(scene, f"unreached-{order.verb}", f"{still}: {deeds[-1].why}. It is asked for again until that is mended.", "say")


def is_resting(deeds: Sequence[Deed], now: float) -> bool:
    """Whether what was refused is not asked for again yet: less and less often, as each time is written down, and it may be days."""
    refused = [deed.outcome.at for deed in deeds if deed.refused and deed.outcome is not None]
    if not refused:
        return False
    pause = min(max(PAUSE_SHARE * (max(refused) - min(refused)), LEAST_PAUSE_S), MOST_PAUSE_S)
    return 0.0 <= now - max(refused) < pause


def make_step(scene: Scene, order: Order, verb: str) -> Step:
    """The step of one try."""
    return Step(
        name=scene.record.name(verb, order.key or order.target),
        kind=order.kind,
        target=order.target,
        reason=order.reason,
        patience=order.patience,
        amount=order.amount,
        details=order.details,
    )


def say_last(deeds: Sequence[Deed]) -> str:
    """What the last try came to."""
    outcomes = [deed.outcome for deed in deeds if deed.outcome is not None]
    return f"{outcomes[-1].result.value}, {outcomes[-1].text}" if outcomes else "not tried"


def walk(scene: Scene, stages: Sequence[Stage]) -> Answer:
    """The answer of the first stage that is not passed; None when all are."""
    for stage in stages:
        answer = stage(scene)
        if answer is not None:
            return answer
    return None


def side_by_side(*answers: Answer) -> Answer:
    """Several ways at once: passed when all are, stopped as soon as one is."""
    stopped = next((one for one in answers if isinstance(one, Stop)), None)
    if stopped is not None or all(one is None for one in answers):
        return stopped
    return tuple(step for one in answers if isinstance(one, tuple) for step in one)


def notify(scene: Scene, what: str, reason: str, verb: str = "tell") -> Steps:
    """A notice, once for each name. `tell` says how it ended or why nothing is begun, `say` what is waited for meanwhile."""
    name = scene.record.name(verb, what)
    if name in scene.case.done or name in scene.case.running:
        return ()
    return (Step(name=name, kind="notify", target=scene.case.incident.subject, reason=reason),)


def is_assumed(deed: Deed) -> bool:
    """Whether it is only rehearsed."""
    return deed.outcome is not None and deed.outcome.text == ASSUMED
