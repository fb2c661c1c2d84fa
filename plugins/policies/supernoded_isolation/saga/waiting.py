"""What a saga waits for without a limit or for long, and what people are told of it: once on entry, once when it goes on. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Deed, State, Topology, View
from supernoded_isolation.evidence.card_views import PRESENT
from supernoded_isolation.saga.stage import Scene, Steps, find_deeds, name_try, notify

HEARD_S = 15.0  # that a word counts as fresh which says that nothing could be read: other nodes tell every 5 s (ours)
OVER = "-over"  # ends the name of the notice that something is waited for no more


def tell_refused(scene: Scene) -> Steps:
    """That leave to take the card out is refused, and that it was given after all."""
    holds = find_deeds(scene.record, "hold")
    refused = [deed.outcome for deed in holds if deed.refused and deed.outcome is not None]
    if not refused:
        return ()
    card = scene.place.card
    begun = f"{card} stays in service, as its hold is refused: {refused[-1].text}. It is asked for again as long as the trouble is there."
    ended = f"{card} is held now, {scene.now - refused[0].at:.0f} s after leave for that was first refused. It goes on from here."
    return tell_edge(scene, "hold", begun, ended, lasts=not any(deed.sent for deed in holds))


def tell_hindered(scene: Scene, tests: Sequence[Deed], what: str) -> Steps:
    """What keeps cards from being tested, so that it is mended: once, of the first."""
    first = next((deed for deed in tests if deed.hindered), None)
    if first is None:
        return ()
    text = f"{what}: {first.why}. It is tried again until that is mended."
    return notify(scene, f"hindered-{first.target}", text, "say")


def tell_edge(scene: Scene, what: str, begun: str, ended: str, *, lasts: bool) -> Steps:
    """One notice when something begins to last, and one when it ends, each time."""
    before, after = list_said(scene, what), list_said(scene, what + OVER)
    if lasts and len(before) == len(after):
        return notify(scene, what, begun, name_try("say", len(before) + 1))
    if not lasts and len(before) > len(after):
        return notify(scene, what + OVER, ended, name_try("say", len(after) + 1))
    return ()


def list_said(scene: Scene, what: str) -> list[Deed]:
    """The notices of one name, of this round."""
    return [deed for deed in find_deeds(scene.record, "say") if deed.target == what]


def is_over(scene: Scene, tests: Sequence[Deed]) -> bool:
    """Whether spares were waited for long enough: since that was told, the last test ended, or more than half of the nodes are heard."""
    told = list_said(scene, "spares")
    marks = [*told, *list_said(scene, "nodes" + OVER), *tests]
    ended = [deed.outcome.at for deed in marks if deed.outcome is not None]
    return bool(told) and len(ended) == len(marks) and scene.now - max(ended) >= scene.settings.spare_wait_s


def tell_spares(scene: Scene, awaited: Sequence[str]) -> Steps:
    """Which spares are waited for, and for how long."""
    names = ", ".join(awaited[:8]) + (f" and {len(awaited) - 8} more" if len(awaited) > 8 else "")
    wait = f"{scene.place.job} waits {scene.settings.spare_wait_s:g} s at most for a spare"
    return notify(scene, "spares", f"{wait} in the place of {scene.place.card}: {names} may be well, and cannot be tested now.", "say")


def tell_nodes(scene: Scene) -> Steps:
    """That too few nodes are heard to give anything up, and that they are heard again."""
    heard, known = count_heard(scene.seen, scene.world.topology)
    begun = f"{heard} of {known} nodes are heard here: nothing of {scene.place.job} is given up until more than half are."
    ended = f"{heard} of {known} nodes are heard here again: spares for {scene.place.job} are looked for."
    return tell_edge(scene, "nodes", begun, ended, lasts=not hears_most(scene))


def hears_most(scene: Scene) -> bool:
    """Whether more than half of the nodes are heard: without a broker, or on the lesser side of a split, nothing is known of spares."""
    heard, known = count_heard(scene.seen, scene.world.topology)
    return 2 * heard > known or not known


def count_heard(seen: View, site: Topology) -> tuple[int, int]:
    """How many of the nodes that have cards tell of one now, whatever it is, and how many there are."""
    nodes = [node for node in site.nodes if node.cards]
    return sum(any(_is_told(seen, card) for card in node.list_cards()) for node in nodes), len(nodes)


def _is_told(seen: View, card: str) -> bool:
    last = [one for source in seen.sources(PRESENT, card) if (one := seen.newest(PRESENT, card, source)) is not None]
    return any(one.state is State.GOOD or (one.state is State.UNKNOWN and seen.now - one.at < HEARD_S) for one in last)
