"""The way back of a node that was gone: all its cards answer and are well, and that for a probation; then our hold is lifted. Pure.

No card of it was blamed, so none is tested; whoever has the role `fleet` holds the node too, and has a probation of its own.
"""

from __future__ import annotations

from supernoded_isolation.evidence.card_views import is_well
from supernoded_isolation.evidence.unheard import list_gone
from supernoded_isolation.saga.place import list_ours
from supernoded_isolation.saga.stage import Order, Scene, Steps, Stop, attempt, find_deeds, make_step, name_try, notify

BEATS, AWAY = "beats", "away"  # since when it is back, and that it was gone again: in turns


def bring_node_back(scene: Scene, node: str) -> Steps:
    """The next step; what a later life reads its probation from is what people were told."""
    back, away = find_deeds(scene.record, BEATS), find_deeds(scene.record, AWAY)
    gone = list_gone(scene.seen)
    if gone is None:
        return ()
    if node in gone:
        return (
            _note(scene, AWAY, len(away), node, "is gone again: it stays out of service") if len(back) > len(away) else _remind(scene, node)
        )
    if not _is_whole(scene, node):
        return _remind(scene, node)
    if len(back) == len(away):
        text = f"is back and all its cards are well: it is watched for {scene.settings.probation_s:g} s"
        return _note(scene, BEATS, len(back), node, text)
    since = back[-1].outcome
    if since is None or scene.now - since.at < scene.settings.probation_s:
        return ()
    reason = f"it has been back for {scene.now - since.at:.0f} s, and all its cards are well"
    answer = attempt(scene, Order("unhold", "card.unhold", node, reason, scene.settings.hold_s))
    if isinstance(answer, Stop):
        return notify(scene, f"unhold-{node}", f"{answer.text}. Do it by hand: see `supernodectl holds`.")
    return answer or ()


def _is_whole(scene: Scene, node: str) -> bool:
    cards = [card for one in scene.world.topology.nodes if one.name == node for card in one.list_cards()]
    return bool(cards) and all(is_well(scene.seen, card, scene.table, 0.0) for card in cards)


def _note(scene: Scene, verb: str, before: int, node: str, text: str) -> Steps:
    return (make_step(scene, Order(verb, "notify", node, f"{node} {text}.", 10.0), name_try(verb, before + 1)),)


def _remind(scene: Scene, node: str) -> Steps:
    """People are told again of a node that has been out for long."""
    placed = min((hold.placed for hold in list_ours(scene.world, node)), default=scene.now)
    times = int((scene.now - placed) // scene.settings.remind_s)
    text = f"{node} has been out of service for {(scene.now - placed) / 86_400:.0f} days: repair it, or lift its hold by hand."
    return notify(scene, f"out{times}-{node}", text) if times else ()
