"""What takes the place of a rank: a spare that has passed its test, else nothing, and its whole replica is given up. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from supernoded.plugin import Deed, drop_replica, find_replica, number_replica, parse_plan
from supernoded_isolation.saga.place import PLAN, find_rank_on, find_serial, list_holds
from supernoded_isolation.saga.spares import choose_spare, list_unheard, reserve
from supernoded_isolation.saga.stage import Answer, Order, Scene, Steps, Stop, find_deeds, make_step, name_try, say_last

MOST_NAMED = 8
UNHEARD_S = 30.0  # since the hold, in which a spare may be heard of: readings of other nodes come every 5 s (ours)


class Substitute(msgspec.Struct, frozen=True):
    """The spare, or the ranks that are given up; or what is still to be done or waited for."""

    answer: Answer = None
    card: str = ""
    dropped: tuple[int, ...] = ()
    number: int = -1  # of the rank

    @property
    def details(self) -> Mapping[str, str]:
        """Of `job.remap`: `cards` = rank -> card, `drop` = ranks that are given up, both as JSON."""
        return {"cards": json.dumps({str(self.number): self.card} if self.card else {}), "drop": json.dumps(list(self.dropped))}

    def say_dropped(self) -> str:
        """For a sentence."""
        more = f" and {len(self.dropped) - MOST_NAMED} more" if len(self.dropped) > MOST_NAMED else ""
        return ", ".join(map(str, self.dropped[:MOST_NAMED])) + more


def find_substitute(scene: Scene) -> Substitute:
    """By the record of what was tested in this round: a spare that failed is held, and the next one is tried."""
    tests = find_deeds(scene.record, "test", scene.settings.spare_tries)
    passed = next((deed.target for deed in tests if deed.done and _is_still_free(scene, deed.target)), "")
    if passed:
        return Substitute(card=passed, number=scene.place.number)
    held = tuple(step for deed in tests for step in _hold_failed(scene, deed))
    if any(deed.outcome is None for deed in tests):
        return Substitute(answer=held)
    if len(tests) < scene.settings.spare_tries:
        tried = [deed.target for deed in tests]
        spare = _choose(scene, tried)
        if not spare and choose_spare(scene.place.card, scene.world, scene.seen, scene.table, tried):
            return Substitute(answer=held)  # an older saga has first call on what there is: it is waited for
        if spare:
            return Substitute(answer=(*held, make_step(scene, _order_test(scene, spare), name_try("test", len(tests) + 1))))
    if held or _is_waiting(scene, [deed.target for deed in tests]):
        return Substitute(answer=held)
    return _give_up(scene, say_last(tests) if tests else "no spare is free, well and seen")


def _choose(scene: Scene, tried: list[str]) -> str:
    taken = reserve(scene.seen, scene.world, scene.case.incident, scene.place.job, scene.table, scene.now)
    return next(iter(choose_spare(scene.place.card, scene.world, scene.seen, scene.table, (*taken, *tried))), "")


def _is_still_free(scene: Scene, spare: str) -> bool:
    """Whether nobody has held or used it since its test; once the new map was sent, it is that one, unless somebody holds it."""
    if list_holds(scene.world, spare):
        return False
    return bool(find_deeds(scene.record, "remap")) or find_rank_on(scene.seen, spare) in ("", scene.place.rank)


def _is_waiting(scene: Scene, tried: list[str]) -> bool:
    """Whether a spare is only not heard of yet, as when the network has just come together: no replica is given up for that."""
    unheard = list_unheard(scene.place.card, scene.world, scene.seen, tried)
    begun = [deed.outcome.at for deed in find_deeds(scene.record, "hold") if deed.outcome is not None]
    return bool(unheard) and scene.now - max((scene.case.incident.opened, *begun)) < UNHEARD_S


def _order_test(scene: Scene, spare: str) -> Order:
    details = {"serial": find_serial(scene.seen, scene.world, spare)}
    reason = f"it is to take the place of {scene.place.card}, after a test"
    return Order("test", "card.test", spare, reason, scene.settings.test_s, details=details)


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
    """A whole replica, where there is another one (safety rule 31): never one rank alone."""
    text = scene.seen.text(PLAN, scene.place.job) or ""
    try:
        plan = parse_plan(text)
        drop_replica(plan, number_replica(plan, scene.place.number))
        ranks = find_replica(plan, scene.place.number)
    except ValueError as error:
        return Substitute(answer=Stop(f"no spare takes the place of {scene.place.card} ({why}), and no replica can be given up: {error}"))
    return Substitute(dropped=tuple(ranks), number=scene.place.number)
