"""The site's scheduler: with `drain` a node takes no new job while a card of it is isolated. Nothing else waits for it. Pure.

What was drained is given back with its card, whatever the settings say by then. Whoever drains keeps apart for which incidents a node is
out, and the last of them puts it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Deed
from supernoded_isolation.saga.place import list_ours
from supernoded_isolation.saga.stage import DIGITS, Order, Scene, Steps, find_deeds, make_step, name_try, notify

DRAIN, UNDRAIN = "drain", "undrain"
PATIENCE_S = 30.0  # a grant must be asked for first (ours)
AGAIN_S = 60.0  # from a try that did not succeed to the next (ours)
MOST_DRAINS = 3  # tries to drain one (ours)
MOST = 20  # tries to put a node back; then a person has to (ours)


def follow_drain(scene: Scene) -> Steps:
    """The next step about the node of this case's card."""
    card, deeds = scene.place.card, scene.record.deeds
    node = card.partition("/")[0]
    is_out = is_drained(deeds, node)
    if _is_isolated(scene, card):
        reason = f"{card} is out of service: {scene.case.incident.text.rstrip('.')}; nothing new is to be put on {node}"
        order = Order(DRAIN, "node.drain", node, reason, PATIENCE_S)
        return _ask(scene, order, MOST_DRAINS) if scene.settings.drain and not is_out else ()
    if not is_out or list_ours(scene.world, card):
        return ()
    return _ask(scene, Order(UNDRAIN, "node.release", node, f"{card} is let go, for which {node} was drained", PATIENCE_S), MOST)


def keeps_drained(deeds: Sequence[Deed]) -> bool:
    """Whether a node is still to be put back, and that has not been tried too often."""
    nodes = dict.fromkeys(deed.target for deed in deeds if deed.verb.rstrip(DIGITS) == DRAIN)
    return any(is_drained(deeds, node) and len(_list_tries(deeds, UNDRAIN, node)) < MOST for node in nodes)


def is_drained(deeds: Sequence[Deed], node: str) -> bool:
    """Whether it may be out by our order: it was not seen put back since."""
    out = False
    for deed in deeds:
        if deed.target == node and deed.verb.rstrip(DIGITS) in (DRAIN, UNDRAIN):
            out = deed.sent if deed.verb.startswith(DRAIN) else out and not deed.done
    return out


def _list_tries(deeds: Sequence[Deed], verb: str, node: str) -> list[Deed]:
    return [deed for deed in deeds if deed.target == node and deed.verb.rstrip(DIGITS) == verb]


def _is_isolated(scene: Scene, card: str) -> bool:
    """Held by us, and fenced, or that was tried for the last time: before, its job may still have to save there."""
    fenced = any(deed.sent for deed in find_deeds(scene.record, "fence")) or scene.record.name("tell", "done") in scene.case.done
    return fenced and bool(list_ours(scene.world, card))


def _ask(scene: Scene, order: Order, most: int) -> Steps:
    """Again a while after it came to nothing."""
    tries = [deed for deed in _list_tries(scene.record.deeds, order.verb, order.target) if deed.round == scene.record.round]
    last = tries[-1].outcome if tries else None
    if tries and last is None:
        return ()
    if last is not None and len(tries) >= most:
        text = f"{order.kind} on {order.target} came to nothing: {last.text}. Do it by hand."
        return notify(scene, f"{order.verb}-{order.target}", text, "say")
    if last is not None and 0.0 <= scene.now - last.at < AGAIN_S:
        return ()
    return (make_step(scene, order, name_try(order.verb, len(tries) + 1)),)
