"""Which spares can be tested now, and which may be later: what is only not heard, or could not be tested, is not given up. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from supernoded.plugin import Deed
from supernoded_isolation.saga.spares import choose_spare, list_unheard, reserve
from supernoded_isolation.saga.stage import TRIES, Scene, find_deeds, is_resting


class Outlook(msgspec.Struct, frozen=True):
    """Spares by what is known of them. `ready` = a test can be asked for now, those that were asked least often first.

    `coming` = as soon as an older saga has chosen, or a test program is mended: however long that takes. `hoped` = not heard, not answering
    or refused by a guard: for a time.
    """

    ready: tuple[str, ...] = ()
    coming: tuple[str, ...] = ()
    hoped: tuple[str, ...] = ()


def look_out(scene: Scene, tests: Sequence[Deed]) -> Outlook:
    """By the tests of this round: one that failed is out, one that is under way or has passed is looked after elsewhere."""
    card, world, seen = scene.place.card, scene.world, scene.seen
    job = "" if find_deeds(scene.record, "remap") else scene.place.job  # after a new map its own plan, and what that freed, is in doubt
    settled = {deed.target for deed in tests if deed.failed or deed.done or deed.outcome is None}
    tries = {target: [deed for deed in tests if deed.target == target] for target in {deed.target: None for deed in tests}}
    weary = {target for target, deeds in tries.items() if sum(not deed.hindered for deed in deeds) >= TRIES}
    taken = reserve(seen, world, scene.case.incident, scene.place.job, scene.table, scene.now)
    rests, found = is_resting(tests, scene.now), dict[str, list[str]](ready=[], coming=[], hoped=[])
    for spare in choose_spare(card, world, seen, scene.table, settled | weary, job):
        refused = bool(tries.get(spare)) and tries[spare][-1].refused and rests
        hindered = refused and tries[spare][-1].hindered
        found["coming" if spare in taken or hindered else "hoped" if refused else "ready"].append(spare)
    unheard = list_unheard(card, world, seen, settled | weary)
    ready = sorted(found["ready"], key=lambda spare: len(tries.get(spare, ())))
    return Outlook(tuple(ready), tuple(found["coming"]), (*found["hoped"], *unheard))
