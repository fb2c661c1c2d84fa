"""What gets too warm: the ladder, paced by how far dies are from where they slow down and how fast they get there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import (
    JOB_WATCHES,
    Case,
    Node,
    Record,
    Severity,
    Step,
    View,
    World,
    find_least,
    list_jobs,
    read_record,
    say_outcomes,
    say_silent,
    take,
)
from supernoded_thermal.coolant.seeing import FLOW, LIFT, list_past
from supernoded_thermal.node.dies import read_dies
from supernoded_thermal.node.vote import FASTEST
from supernoded_thermal.remedies import margin
from supernoded_thermal.remedies.ladder import ASKED, CAP, Ladder, Rung, climb
from supernoded_thermal.remedies.margin import Margin, measure
from supernoded_thermal.remedies.place import Place, Places
from supernoded_thermal.remedies.undoing import FANS, UNDOING, list_capped, list_kept, undo
from supernoded_thermal.settings import ThermalSettings

WATCHES: Mapping[str, float] = {**margin.WATCHES, **JOB_WATCHES, FLOW: 60.0, LIFT: 60.0, ASKED: 60.0, CAP: 60.0, FANS: 60.0}
LOOP_KINDS = ("coolant.primary", "coolant.pump", "coolant.flow", "coolant.capacity")  # that explain a loop's heat, and answer it
STILL = ("coolant.pump", "coolant.flow")  # when critical, nothing flows
MORE_FLOW = ("coolant.flow", "coolant.capacity", "heat")  # where more pressure can help: not without a pump, nor without primary water
HEARD_S = 10.0
UNHEARD = Margin(math.inf, None, "no die has been heard of yet")
RISE_DRY = 1.0  # K/s of a die at full power without coolant (T1: 600 W)
WORDS = {
    "flow": "more flow asked for",
    "fans": "fans at full speed",
    "cap": "nodes capped",
    "save": "jobs saved",
    "drain": "nodes drained",
    "low": "nodes capped lower",
    "stop": "jobs stopped",
    "off": "cords opened",
    "self": "this node's own cords opened",
}


class CoolingRemedy:
    """Answers a loop, node or card that is too warm or will be."""

    watches: Mapping[str, float] = WATCHES

    def __init__(self, answers: str, node: Node, settings: ThermalSettings) -> None:
        self.answers = answers
        self._site, self._own, self._set = node.topology, node.name, settings
        self._places = Places(node.topology)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """The next rung, a sentence about each, and the way back."""
        record, place = read_record(case, UNDOING), self._places.find(case.incident)
        if not case.still_raised:
            return undo(case, record, place, world, self._set)
        if self._is_answered(case, place, world, now) and not record.has_begun(*WORDS):
            return ()
        now_at = measure(case.seen, place.cards, self._set.node)
        now_at = UNHEARD if now_at.room is None and not has_listened(case, place) else now_at
        ladder = Ladder(case, record, place, self._site, self._set)
        rungs = [] if self._is_taken_over(case, now_at, now) else self._list_rungs(case, record, place, now_at, now)
        steps = climb(case, rungs, record)
        again = [] if any(step.kind == "power.cap" for step in steps) else list(ladder.cap_again())
        return (*steps, *(step for step in again if step.name not in case.running), *self._tell(case, record, now_at, steps))

    def keeps_open(self, case: Case, world: World) -> bool:
        """Whether a cap still stands, and is lifted later."""
        return bool(list_kept(case, read_record(case, UNDOING), self._places.find(case.incident), world, self._set))

    def _is_answered(self, case: Case, place: Place, world: World, now: float) -> bool:
        """Whether heat of a loop is answered as what explains it; not for long: that may be over, and open for a cap that still stands."""
        mine = case.incident.kind == "heat" and place.loop and 0.0 <= now - case.incident.opened < self._set.pace_s
        return bool(mine) and any(one.kind in LOOP_KINDS and place.loop in (one.subject, *one.members) for one in world.incidents)

    def _is_taken_over(self, case: Case, at: Margin, now: float) -> bool:
        """Whether a standby pump may still be on its way, which is the unit's own doing (safety rule 17), and dies have the time."""
        return self._is_young(case, now) and not self._is_pressed(case, at, now)

    def _is_young(self, case: Case, now: float) -> bool:
        waits = case.incident.kind == "coolant.pump" and case.incident.severity is not Severity.CRITICAL
        return waits and 0.0 <= now - case.incident.opened < self._set.takeover_s + self._set.quick_s

    def _is_pressed(self, case: Case, at: Margin, now: float) -> bool:
        """Whether dies would slow down before a takeover that fails is known to, and the caps that would follow are set."""
        wait = max(case.incident.opened + self._set.takeover_s - now, 0.0) + self._set.cap_patience_s
        return at.room is None or at.room < RISE_DRY * wait or at.is_due_within(wait)

    def _list_rungs(self, case: Case, record: Record, place: Place, at: Margin, now: float) -> list[Rung]:
        """In their order. Without flow dies heat up in seconds: caps and checkpoint at once, pumps and fans are no help by then."""
        ladder, kind = Ladder(case, record, place, self._site, self._set), case.incident.kind
        still = kind in STILL and case.incident.severity is Severity.CRITICAL
        if still or (self._is_young(case, now) and has_broken_in(case.seen, place.loop)):
            first = (*ladder.cap("cap", self._set.cap_w), *ladder.save(at))
            rungs = [Rung(("cap", "save"), first, due=True)]
            rungs.append(self._rung(record, now, at, "fans", tuple(ladder.blow()), ("cap",)))
        else:
            flow = tuple(ladder.raise_flow()) if kind in MORE_FLOW and (place.loop or kind != "heat") else ()
            rungs = [Rung(("flow",), flow, due=True)]
            near = at.is_near(self._set.die_near_c) or at.is_due_within(5.0 * self._set.hurry_s)
            helps = near or kind == "heat" or case.incident.severity is Severity.CRITICAL  # else nothing is hot, nor will be soon
            rungs.append(self._rung(record, now, at, "fans", tuple(ladder.blow()), ("flow",), also=helps))
            rungs.append(self._rung(record, now, at, "cap", tuple(ladder.cap("cap", self._set.cap_w)), ("flow", "fans"), also=near))
            rungs.append(self._rung(record, now, at, "save", tuple(ladder.save(at)), ("cap",), also=self._is_threatened(at)))
        rungs += self._list_last(case, record, place, at, now)
        return [rung for rung in rungs if rung.steps]

    def _list_last(self, case: Case, record: Record, place: Place, at: Margin, now: float) -> Iterator[Rung]:
        """From the drain on, which holds up nothing; nor does a save under way, beyond the time there is: only the stop waits for it."""
        ladder = Ladder(case, record, place, self._site, self._set)
        low, threatened = tuple(ladder.cap("low", self._set.cap_low_w)), self._is_threatened(at)
        yield self._rung(record, now, at, "drain", tuple(ladder.drain()), ("cap",), also=threatened)
        calm = self._rung(record, now, at, "low", low, ("cap", "save"), also=threatened)
        pressed = self._rung(record, now, at, "low", low, ("cap",), also=at.is_due_within(self._set.hurry_s))
        yield calm if calm.due else pressed
        yield self._make_stop(record, ladder, at, now)
        over = self._list_over(case, place, at) if is_heard(case, place) else []
        others = [node for node in over if node != self._own]
        due = bool(over) and self._is_off_due(case, record, at, now)
        yield Rung(("off",), tuple(ladder.cut("off", others)), due=due)
        yield Rung(
            ("self",), tuple(ladder.cut("self", [self._own] if self._own in over else [])), due=due and record.has_had(0.0, now, "off")
        )

    def _make_stop(self, record: Record, ladder: Ladder, at: Margin, now: float) -> Rung:
        """At the limit itself a save that is under way is not waited for: the stop goes by a saved step, too."""
        hot = at.room is not None and (at.room <= 0.0 or at.is_due_within(self._set.hurry_s / 2.0))
        waits = ("low",) if at.room is not None and at.room <= 0.0 else ("save", "low")
        return self._rung(record, now, at, "stop", tuple(ladder.stop()), waits, also=hot)

    def _is_off_due(self, case: Case, record: Record, at: Margin, now: float) -> bool:
        """Over-temperature that continues: though jobs have stopped, or while it still rises and none can stop in time."""
        runs = any(job.runs for job in list_jobs(case.seen))
        if runs and not record.has_begun("stop"):
            return False
        rises = at.rises and record.has_had(self._set.quick_s, now, "low")
        return rises or record.has_had(self._set.pace_s, now, "low", "stop")

    def _rung(
        self, record: Record, now: float, at: Margin, verb: str, steps: tuple[Step, ...], below: tuple[str, ...], *, also: bool = True
    ) -> Rung:
        """It waits for what is below it: till that has had its time, or till there is no time left."""
        had = record.has_had(self._set.pace_s, now, *below)
        hurried = record.has_had(self._set.quick_s, now, *below) and at.is_due_within(self._set.hurry_s)
        return Rung((verb,), steps, due=also and (had or hurried))

    def _is_threatened(self, at: Margin) -> bool:
        return at.is_near(self._set.die_near_c) or at.is_due_within(self._set.hurry_s)

    def _list_over(self, case: Case, place: Place, at: Margin) -> list[str]:
        """The nodes with a die that is too hot now, and not by a leap that no die can make: nothing but their cords is left."""
        if at.room is None or at.room > self._set.node.throttle_c - self._set.die_over_c:
            return []
        over = []
        for node, cards in place.cards.items():
            dies = [die for die in read_dies(case.seen, cards, self._set.node) if die.celsius is not None and not die.is_held]
            hot = [die.card for die in dies if (die.celsius or 0.0) >= self._set.die_over_c]
            over += [node] if any(not has_leapt(case.seen, card) for card in hot) else []
        return over

    def _tell(self, case: Case, record: Record, at: Margin, steps: Sequence[Step]) -> Sequence[Step]:
        """One sentence for each rung, when it has its outcome and the next one waits."""
        ended = [verb for verb in WORDS if record.has_begun(verb) and record.has_had(0.0, case.seen.now, verb)]
        if steps or (not ended and record.has_begun(*WORDS)):
            return ()
        return take(case, [self._make_notice(case, record, at, ended[-1] if ended else "first")])

    def _make_notice(self, case: Case, record: Record, at: Margin, name: str) -> Step:
        place = self._places.find(case.incident)
        told = "; ".join(say_outcomes(record, WORDS)) or "nothing was ordered"
        if self._is_young(case, case.seen.now) and place.loop and not record.has_begun(*WORDS):
            told = f"its standby has {self._set.takeover_s:g} s to take over before cards are capped"
        silent = say_silent(list_jobs(case.seen)) if record.has_begun("save", "stop") else ""
        capped = len(list_capped(case, record, place, self._set))
        more = f"; {capped} nodes stand capped" if capped else ""
        dies = f"; {at.text}" if place.nodes else ""  # of a pump there are none
        reason = f"{case.incident.text.rstrip('.')}. {told[0].upper()}{told[1:]}{more}{dies}.{silent}"
        return Step(name=record.name("tell", name), kind="notify", target=case.incident.subject, reason=reason)


def has_broken_in(seen: View, cdu: str) -> bool:
    """Whether flow is less than half of what it was within the last minute, or is no longer seen."""
    flow, past = find_least(seen, FLOW, cdu), [value for _, value in list_past(seen, FLOW, cdu)]
    return bool(past) and (flow is None or flow < max(past) / 2.0)


def has_leapt(seen: View, card: str) -> bool:
    """Whether its newest reading is further from the one before than a die can come, or there is none before."""
    past = list_past(seen, margin.HIGHEST, card)
    return len(past) < 2 or past[-1][1] - past[-2][1] > FASTEST * max(past[-1][0] - past[-2][0], 1.0)


def has_listened(case: Case, place: Place) -> bool:
    """Whether anything of the place has been read for so long that its dies would have been, too: not so just after a start."""
    cards = [(margin.HIGHEST, card) for listed in place.cards.values() for card in listed]
    looks = [case.seen.window(*one) for one in (*cards, (FLOW, place.cdu), (LIFT, place.cdu))]
    return any(case.seen.now - past[0].at >= HEARD_S for past in looks if past)


def is_heard(case: Case, place: Place) -> bool:
    """Whether dies have been read for long enough that a job that runs would have been heard of: two digests of other nodes."""
    oldest = [past[0].at for cards in place.cards.values() for card in cards if (past := case.seen.window(margin.HIGHEST, card))]
    return bool(oldest) and case.seen.now - min(oldest) >= HEARD_S
