"""Utility inputs, the generator, and the transfer switch of each feed."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.spec import UTILITIES
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.things import DEAD, FULL, Feed, Shares, Utility


def is_good(shares: Shares, hertz: float, nominal: float) -> bool:
    """Whether an input is within its tolerance on every phase (P3)."""
    low, high = 1.0 - figures.TOLERANCE - 1e-9, 1.0 + figures.TOLERANCE + 1e-9
    return low <= min(shares) and max(shares) <= high and abs(hertz - nominal) <= figures.FREQUENCY_TOLERANCE


def settle_mains(draft: Draft) -> None:
    """Bring utilities, generator and transfer switches to what holds at this moment."""
    for index, utility in enumerate(draft.utilities):
        _date_utility(draft, index, utility)
    if draft.spec.generator:
        _settle_generator(draft)
    for index, feed in enumerate(draft.feeds):
        _settle_feed(draft, index, feed)


def _date_utility(draft: Draft, index: int, utility: Utility) -> None:
    good = is_good(utility.shares, utility.hertz, draft.spec.hertz)
    if good and not math.isinf(utility.bad_since):
        draft.utilities[index] = replace(utility, bad_since=math.inf, good_since=draft.at)
    elif not good and math.isinf(utility.bad_since):
        draft.utilities[index] = replace(utility, bad_since=draft.at, good_since=math.inf)


def _list_used(draft: Draft) -> set[int]:
    """The utilities that feed something."""
    return {index % len(UTILITIES) for index in range(len(draft.feeds))}


def _settle_generator(draft: Draft) -> None:
    state = draft.generator.state
    bad_since = min((draft.utilities[index].bad_since for index in _list_used(draft)), default=math.inf)
    if state == "off" and not math.isinf(bad_since):
        _start(draft, bad_since)
    elif state == "starting" and draft.generator.due <= draft.at:
        _change(draft, "failed" if draft.generator.broken else "running")
    elif state == "running" and draft.generator.broken:
        _change(draft, "failed")
    elif state == "failed" and not draft.generator.broken:
        _change(draft, "off")
    elif state == "running":
        _cool_down(draft, needed=not math.isinf(bad_since) or any(feed.source == "generator" for feed in draft.feeds))
    draft.wake(draft.generator.due)


def _start(draft: Draft, bad_since: float) -> None:
    """Once the loss is confirmed; the set is loaded `start_s` after the loss, or after now when it could not start then."""
    confirmed = bad_since + min(figures.CONFIRM_S, draft.spec.start_s)
    if confirmed > draft.at:
        draft.wake(confirmed)
        return
    late = draft.at > confirmed
    due = draft.at + draft.spec.start_s if late else bad_since + draft.spec.start_s
    _change(draft, "starting", due)


def _cool_down(draft: Draft, *, needed: bool) -> None:
    """A running set without load stops after a while."""
    due = draft.generator.due
    if needed:
        draft.generator = replace(draft.generator, due=math.inf)
    elif math.isinf(due):
        draft.generator = replace(draft.generator, due=draft.at + figures.COOL_DOWN_S)
    elif due <= draft.at:
        _change(draft, "off")


def _change(draft: Draft, state: str, due: float = math.inf) -> None:
    sentences = {
        "starting": f"The generator is started and takes load in {due - draft.at:.1f} s.",
        "running": "The generator runs and takes load.",
        "failed": "The generator has failed.",
        "off": "The generator is off.",
    }
    draft.generator = replace(draft.generator, state=state, due=due)
    draft.tell(f"generator.{state}", "generator", sentences[state])
    draft.changed = True


def _settle_feed(draft: Draft, index: int, feed: Feed) -> None:
    """To the generator when the mains are bad and it runs; back when they have been good for long enough, or when it does not run."""
    utility = draft.utilities[index % len(UTILITIES)]
    running, bad = draft.generator.state == "running", not math.isinf(utility.bad_since)
    source, broken_until = feed.source, feed.broken_until
    back_at = utility.good_since + figures.MAINS_STABLE_S + index * figures.STAGGER_S
    if source == "utility" and bad and running:
        source = "generator"
    elif source == "generator" and (not running or (not bad and back_at <= draft.at)):
        source, broken_until = "utility", draft.at + figures.BREAK_S
    if source == "generator" and not bad:
        draft.wake(back_at)
    shares, hertz = (FULL, draft.spec.hertz) if source == "generator" else (utility.shares, utility.hertz)
    if draft.at < broken_until:
        shares = DEAD
        draft.wake(broken_until)
    settled = Feed(source=source, broken_until=broken_until, shares=shares, hertz=hertz)
    if settled != feed:
        draft.changed = draft.changed or source != feed.source
        draft.feeds[index] = settled
