"""Actions upon a job that its launcher performs, as orders, and what is seen of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from supernoded.errors import WireError
from supernoded.job import orders
from supernoded.job.launching import Launching
from supernoded.job.protocol import Order
from supernoded.job.training import Training
from supernoded.model import Action, Effect, Sight
from supernoded.topology import drop_replica, find_replica, format_plan, number_replica, parse_plan

LAUNCHES: Mapping[str, Literal["abort", "remap", "resume"]] = {"job.abort": "abort", "job.remap": "remap", "job.resume": "resume"}
FORM = 'details of job.remap are cards = {"7": "n1/card7"} and drop = [0, 1], both JSON, or rank = card'
STARTED = "the job was started anew since"


def make_order(action: Action, plan: str) -> Order:
    """What the launcher is told; `plan` is how the ranks are grouped now. Raises WireError for what cannot be understood or must not be.

    Details: `incarnation` = the start of the job that it is about (reading job.incarnation); of job.remap see `FORM`.
    """
    kind, incarnation = LAUNCHES[action.step.kind], read_incarnation(action)
    if kind != "remap":
        return Order(id=action.id, kind=kind, incarnation=incarnation)
    cards, drop = _read_cards(action), _read_drop(action)
    if not cards and not drop:
        raise WireError(f"{action.id}: job.remap names no rank; {FORM}")
    if twice := sorted({rank for rank in cards if rank in drop}):
        raise WireError(f"{action.id}: rank {twice[0]} is to be given up and to be moved")
    return Order(id=action.id, kind=kind, cards=cards, drop=drop, plan=shrink_plan(plan, drop) if drop else "", incarnation=incarnation)


def shrink_plan(text: str, drop: tuple[int, ...]) -> str:
    """The plan without these ranks, which are whole replicas (safety rule 31). Raises WireError for any other."""
    if not text:
        raise WireError("ranks can be given up only as a whole replica, and the job has not told its plan; set SUPERNODED_PLAN")
    try:
        plan = parse_plan(text)
        numbers = sorted({number_replica(plan, rank) for rank in drop}, reverse=True)
        for number in reversed(numbers):
            replica = find_replica(plan, number * plan.replica_size)
            if not set(replica) <= set(drop):
                one, few = min(set(replica) & set(drop)), f"ranks {replica[0]} to {replica[-1]}"
                raise WireError(f"{len(drop)} ranks from {drop[0]} are no whole replica of plan {text}: with rank {one} go {few}")
        for number in numbers:
            plan, _ = drop_replica(plan, number)
        return format_plan(plan)
    except ValueError as error:
        raise WireError(str(error)) from error


def is_aborted(job: Training) -> bool:
    """Whether its launcher has ended the present start, and nothing has started it again."""
    return orders.find_abort(job.kept.orders, job.kept.starts.incarnation)


def see_answer(job: Training, launching: Launching, action: Action) -> Sight:
    """Whether the launcher has done it. What hung in an earlier start has ended with it."""
    given = launching.stamp(action.id, read_incarnation(action))
    if given.ok:
        return Sight(effect=Effect.PRESENT, text="the launcher says that it is done")
    if action.step.kind == "job.abort" and launching.is_void(given):
        return Sight(effect=Effect.PRESENT, text=STARTED)
    if action.step.kind == "job.abort" and is_aborted(job):
        return Sight(effect=Effect.PRESENT, text="the launcher has ended this start of the job already")
    if given.ok is None:
        return Sight(effect=Effect.ABSENT, text="the launcher has not said that it is done")
    return Sight(effect=Effect.ABSENT, text=f"the launcher could not: {given.why}")


def see_steps(job: Training, launching: Launching, action: Action) -> Sight:
    """Whether steps go on. Where the job has no rank here, its launcher's word is all that there is."""
    going = [rank for rank in job.here if rank.beat_at is not None and rank.beat_at > action.issued]
    if job.here and len(going) == len(job.here) and not is_aborted(job):
        return Sight(effect=Effect.PRESENT, text=f"all {len(going)} ranks on this node do steps")
    given = launching.stamp(action.id, read_incarnation(action))
    if given.ok and not job.ranks and not job.kept.starts.lives:
        return Sight(effect=Effect.PRESENT, text="the launcher has started; the job has no ranks on this node")
    steps = f"{len(going)} of {len(job.here)} ranks on this node do steps"
    if given.ok or launching.is_void(given):
        return Sight(effect=Effect.UNKNOWN, text=f"{'the launcher has started' if given.ok else STARTED}, {steps}")
    return Sight(effect=Effect.ABSENT, text=f"the launcher has failed: {given.why}, {steps}" if given.ok is False else steps)


def read_incarnation(action: Action) -> int:
    """The start of the job that an action is about; 0 = it does not say. Raises WireError."""
    text = action.step.details.get("incarnation", "")
    if text and not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise WireError(f"{action.id}: incarnation = {text[:20]!r} is no number of a start; take that of the reading job.incarnation")
    return int(text or 0)


def _read_cards(action: Action) -> dict[int, str]:
    """Rank -> card. Raises WireError."""
    details = action.step.details
    pairs = {rank: card for rank, card in details.items() if rank not in {"cards", "drop", "plan", "incarnation"}}
    try:
        return msgspec.json.decode(details.get("cards", "{}"), type=dict[int, str]) | {int(rank): card for rank, card in pairs.items()}
    except ValueError as error:  # msgspec's errors are ones
        raise WireError(f"{action.id}: {FORM}; {error}") from error


def _read_drop(action: Action) -> tuple[int, ...]:
    """Ranks in ascending order. Raises WireError."""
    try:
        return tuple(sorted(set(msgspec.json.decode(action.step.details.get("drop", "[]"), type=tuple[int, ...]))))
    except ValueError as error:
        raise WireError(f"{action.id}: {FORM}; {error}") from error
