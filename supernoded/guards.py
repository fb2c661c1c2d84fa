"""What must hold before an action's first byte. Each guard refuses with a sentence; a protective action passes rates (safety rule 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from supernoded.model import Action, Hold, Mode, is_protective
from supernoded.wire.node import is_covered

Guard = Callable[[Action, float], str | None]
NOTIFY = "notify"
WAYS_BACK = frozenset({"card.unhold", "card.release"})  # each does nothing to what another still holds
TOUCHES_NOTHING = frozenset({NOTIFY, "card.capture"})
FLEET, GONE = "fleet", "gone"  # owner and cause of the hold on a node that was gone
AWAITED = frozenset({"job.remap"})  # a job whose collective was ended stands still until it comes


def guard_deadline(action: Action, now: float) -> str | None:
    """Nothing is sent after its deadline, nor when it was issued in the future of a clock that was set back."""
    if now >= action.deadline:
        return f"its deadline was {now - action.deadline:.1f} s ago"
    if is_from_the_future(action, now):
        return f"it was issued {action.issued - now:.0f} s in the future: the clock was set back"
    return None


def is_from_the_future(action: Action, now: float) -> bool:
    """Whether it was issued before the clock was set back: its deadline may be days ahead, and means nothing."""
    return action.issued > now + 1.0


def guard_mode(mode_of: Callable[[str], Mode]) -> Guard:
    """Only `act` writes to devices; `advise` may notify."""

    def guard(action: Action, now: float) -> str | None:
        del now
        mode = mode_of(action.policy)
        if mode is Mode.ACT or (mode is Mode.ADVISE and action.step.kind == NOTIFY):
            return None
        return f"policy {action.policy} is in mode {mode.value}; `supernodectl mode act --policy {action.policy}` lets it act"

    return guard


def guard_lease(held: Callable[[str], str | None]) -> Guard:
    """The scope must still be ours."""

    def guard(action: Action, now: float) -> str | None:
        del now
        return held(action.scope)

    return guard


def guard_holds(holds: Callable[[], Sequence[Hold]]) -> Guard:
    """What somebody else has taken out is left alone (safety rule 1), unless it protects, or takes back what is the policy's own.

    A second hold on the very same card touches nothing: each lifts its own. Nor does a test of a card whose node was gone, and is held for
    its probation alone: nothing may run on it.
    """

    def guard(action: Action, now: float) -> str | None:
        if is_protective(action.step.kind) or action.step.kind == NOTIFY or action.step.kind in WAYS_BACK:
            return None
        for hold in holds():
            if action.step.kind == "card.hold" and hold.subject == action.step.target:
                continue
            if action.step.kind == "card.test" and hold.cause == GONE and hold.owner == FLEET:
                continue
            if hold.stands(now) and hold.owner != action.policy and _is_within(action.step.target, hold.subject):
                return f"{hold.subject} is held by {hold.owner}: {hold.reason}"
        return None

    return guard


def guard_maintenance(everybody: Sequence[str], by_policy: Mapping[str, Sequence[str]]) -> Guard:
    """What the settings put under maintenance is left alone, unless it protects."""

    def guard(action: Action, now: float) -> str | None:
        del now
        if is_protective(action.step.kind) or action.step.kind == NOTIFY:
            return None
        for pattern in (*everybody, *by_policy.get(action.policy, ())):
            if is_covered(action.step.target, (pattern,)):
                return f"{action.step.target} is under maintenance by the settings ({pattern})"
        return None

    return guard


def _is_within(target: str, subject: str) -> bool:
    return target == subject or target.startswith(subject + "/")


class Tally:
    """How often we have acted lately: the guards of rate and of attempts look here, `actions.py` counts here."""

    def __init__(self, per_minute: int, attempts: int, attempt_window: float = 3600.0) -> None:
        self._per_minute, self._attempts, self.window = per_minute, attempts, attempt_window
        self._sent: deque[tuple[float, str, str, str]] = deque(maxlen=10_000)  # at, kind, target, action id

    def count(self, action: Action, now: float) -> None:
        """One more first byte. Sending one action again is not another attempt; a notice or a bundle of evidence touches nothing."""
        if action.step.kind not in TOUCHES_NOTHING and all(ident != action.id for _, _, _, ident in self._sent):
            self._sent.append((now, action.step.kind, action.step.target, action.id))

    def withdraw(self, action: Action) -> None:
        """It came to nothing before anything was done: it is no attempt."""
        kept = [row for row in self._sent if row[3] != action.id]
        if len(kept) < len(self._sent):
            self._sent.clear()
            self._sent.extend(kept)

    def guard(self, action: Action, now: float) -> str | None:
        """Refuse what would be too much in a minute, or too often on one subject. The map of a job that was ended is not kept waiting."""
        if is_protective(action.step.kind) or action.step.kind in TOUCHES_NOTHING:
            return None
        others = [row for row in self._sent if row[3] != action.id]
        last_minute = sum(1 for at, *_ in others if now - at < 60.0)
        if last_minute >= self._per_minute and action.step.kind not in AWAITED:
            return f"{last_minute} actions were sent in the last minute, the limit is {self._per_minute}"
        same = sum(
            1 for at, kind, target, _ in others if now - at < self.window and (kind, target) == (action.step.kind, action.step.target)
        )
        if same >= self._attempts:
            tried = f"{action.step.kind} was tried {same} times on {action.step.target} within {self.window / 3600:g} h"
            return f"{tried}, the limit is {self._attempts}"
        return None
