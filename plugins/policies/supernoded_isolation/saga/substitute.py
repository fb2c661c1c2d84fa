"""What takes the place of ranks: spares that have passed their test, else nothing, and their whole replicas are given up. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Deed, drop_replica, find_replica, number_replica, parse_plan
from supernoded_isolation.evidence.card_views import is_well
from supernoded_isolation.saga.outlook import Outlook, look_out
from supernoded_isolation.saga.place import PLAN, find_rank_on, find_serial, list_holds
from supernoded_isolation.saga.spares import list_hindering
from supernoded_isolation.saga.stage import Answer, Order, Scene, Steps, Stop, find_deeds, make_step, name_try, say_last
from supernoded_isolation.saga.waiting import hears_most, is_over, tell_hindered, tell_nodes, tell_spares

MOST_NAMED = 8


class Substitute(msgspec.Struct, frozen=True):
    """The spare of each rank, or the ranks that are given up; or what is still to be done or waited for."""

    answer: Answer = None
    cards: Mapping[int, str] = {}  # rank -> spare
    dropped: tuple[int, ...] = ()

    @property
    def details(self) -> Mapping[str, str]:
        """Of `job.remap`: `cards` = rank -> card, `drop` = ranks that are given up, both as JSON."""
        return {"cards": json.dumps(dict(self.cards)), "drop": json.dumps(list(self.dropped))}

    def say_dropped(self) -> str:
        """For a sentence."""
        more = f" and {len(self.dropped) - MOST_NAMED} more" if len(self.dropped) > MOST_NAMED else ""
        return ", ".join(map(str, self.dropped[:MOST_NAMED])) + more


def find_substitute(scene: Scene) -> Substitute:
    """By the record of what was tested in this round: a spare that failed is held, and another one is tried."""
    numbers, tests = scene.place.numbers, find_deeds(scene.record, "test")
    passed = [deed.target for deed in tests if deed.done and _is_still_free(scene, deed.target)]
    if len(passed) >= len(numbers):
        return Substitute(cards=dict(zip(numbers, sorted(passed, key=_by_slot), strict=False)))
    told = tell_hindered(scene, tests, f"A spare for {scene.place.card} cannot be tested")
    asked = (*told, *(step for deed in tests for step in _hold_failed(scene, deed)))
    running = sum(deed.outcome is None for deed in tests)
    missing = len(numbers) - len(passed) - running
    spent = sum(deed.failed or (deed.done and deed.target not in passed) for deed in tests)
    outlook = look_out(scene, tests) if missing and spent < scene.settings.spare_tries else Outlook()
    if missing and len(outlook.ready) >= missing:
        return Substitute(answer=(*asked, *_test(scene, outlook.ready[:missing], len(tests))))
    if asked or running:
        return Substitute(answer=asked)
    waited = _wait_for(scene, tests, outlook, missing)
    return _give_up(scene, say_last(tests) if tests else _say_too_few(len(numbers))) if waited is None else Substitute(answer=waited)


def _test(scene: Scene, spares: Sequence[str], before: int) -> Steps:
    orders = ((_order_test(scene, spare, len(spares)), name_try("test", before + number)) for number, spare in enumerate(spares, start=1))
    return tuple(make_step(scene, order, verb) for order, verb in orders)


def _wait_for(scene: Scene, tests: Sequence[Deed], outlook: Outlook, missing: int) -> Steps | None:
    """What is told while a spare may still be had, or too few nodes are heard to know; None = nothing is waited for."""
    sure = len(outlook.ready) + len(outlook.coming)
    if sure >= missing:
        return ()
    told = tell_nodes(scene)
    if told or not hears_most(scene):
        return told
    return None if sure + len(outlook.hoped) < missing or is_over(scene, tests) else tell_spares(scene, outlook.hoped)


def _say_too_few(wanted: int) -> str:
    return "no spare is free, well and seen" if wanted == 1 else f"fewer than {wanted} spares are free, well and seen"


def _by_slot(card: str) -> tuple[str, int, str]:
    """Cards of a node in their order, as tensor groups stand side by side."""
    node, _, slot = card.partition("/card")
    return node, int(slot) if slot.isascii() and slot.isdecimal() else 0, card


def _is_still_free(scene: Scene, spare: str) -> bool:
    """Whether nobody has held or used it since its test; once the new map was sent, it is that one, unless somebody holds it."""
    held = list_holds(scene.world, spare)  # by the probation of its node, or because that is gone again
    if list_hindering(scene.world, spare) or (held and not is_well(scene.seen, spare, scene.table, 0.0)):
        return False
    if find_deeds(scene.record, "remap"):
        return True
    on_it = find_rank_on(scene.seen, spare)
    return not on_it or on_it in {f"{scene.place.job}/rank{number}" for number in scene.place.numbers}


def _order_test(scene: Scene, spare: str, at_once: int) -> Order:
    """Cards of one node may be tested one after the other: the site's program runs once at a time."""
    details = {"serial": find_serial(scene.seen, scene.world, spare)}
    reason = f"it is to take the place of {scene.place.card}, after a test"
    return Order("test", "card.test", spare, reason, scene.settings.test_s * at_once, details=details)


def _hold_failed(scene: Scene, deed: Deed) -> Steps:
    """A spare that was tested and has failed is kept out; one that was never tested, or not to the end in time, is not."""
    if deed.outcome is None or not deed.failed:
        return ()
    order = Order(
        "keep",
        "card.hold",
        deed.target,
        f"it failed its test as a spare: {deed.outcome.text}",
        scene.settings.hold_s,
        details={"cause": "fault", "serial": find_serial(scene.seen, scene.world, deed.target)},
    )
    name = scene.record.name("keep", deed.target)
    return () if name in scene.case.done else (make_step(scene, order, "keep"),)


def _give_up(scene: Scene, why: str) -> Substitute:
    """Whole replicas, where there is another one (safety rule 31): never one rank alone."""
    text = scene.seen.text(PLAN, scene.place.job) or ""
    try:
        plan = parse_plan(text)
        ranks = sorted({rank for number in scene.place.numbers for rank in find_replica(plan, number)})
        for number in sorted({number_replica(plan, number) for number in scene.place.numbers}, reverse=True):
            plan, _ = drop_replica(plan, number)
    except ValueError as error:
        return Substitute(answer=Stop(f"no spare takes the place of {scene.place.card} ({why}), and no replica can be given up: {error}"))
    return Substitute(dropped=tuple(ranks))
