"""Whether a node is out for one of our incidents, and whether that is ours to change. Pure."""

from __future__ import annotations

from supernoded.plugin import Effect, Sight
from supernoded_slurm.reasons import MOST_OWNERS, read_owners
from supernoded_slurm.shown import Shown, clip


def see_drain(name: str, shown: Shown, owner: str) -> Sight:
    """Whether it is drained for this incident. What somebody else says of it is never written over."""
    owners = read_owners(shown.reason)
    if owners is None and (shown.reason or shown.drained):
        return Sight(effect=Effect.UNKNOWN, text=f"{_say(name, shown)}, which is not ours to change; who set it must put it back first")
    if owners and owner not in owners and len(owners) >= MOST_OWNERS:
        return Sight(effect=Effect.UNKNOWN, text=f"{name} is drained for {len(owners)} incidents of ours, and no more fit into its reason")
    if shown.drained and owners and owner in owners:
        return Sight(effect=Effect.PRESENT, text=f"{_say(name, shown)}: what runs there may end, nothing new begins")
    return Sight(effect=Effect.ABSENT, text=_say(name, shown))


def see_release(name: str, shown: Shown, owner: str) -> Sight:
    """Whether it is drained for this incident no longer, whoever else may want it out."""
    owners = read_owners(shown.reason) or ()
    if shown.drained and owner in owners:
        return Sight(effect=Effect.ABSENT, text=_say(name, shown))
    stays = ", and is left so: that is not of this incident" if shown.drained else ""
    return Sight(effect=Effect.PRESENT, text=f"{_say(name, shown)}{stays}")


def _say(name: str, shown: Shown) -> str:
    by = f" of {clip(shown.by)}" if shown.by else ""
    why = f" for '{clip(shown.reason)}'{by}" if shown.reason else " without a reason" if shown.drained else ""
    return f"{name} is {clip(shown.state)} in Slurm{why}"
