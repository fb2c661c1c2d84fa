"""What must hold of every storm, by the plant's truth, the orders that reached it, and the journal.

Each check gives a sentence about whatever did not hold.

Rules are those of docs/safety.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from sim_hardware.plant.cards.orders import CapCard
from sim_hardware.plant.job.orders import ResumeJob, StopJob
from sim_hardware.plant.power.orders import ArmShed, CycleOutlet, DisarmShed, FireShed, SwitchOutlet
from sim_hardware.plant.words import Happening, Order
from supernoded.messages import Deed
from tests.chaos.power_play import Ordered, Record
from tests.chaos.power_storm import CUT, KILL

OWN = "n0"  # the daemon that has all roles
VIEW_S = 15.0  # s that a view may be behind the plant: a poll, a freshness, an order on its way
SWITCH_S = 5.0  # s from an order to its outlet
SHED_MOST_S = 120.0  # of standing fans in an hour: `shed_most_s`
# troubles that a storm can leave behind
LASTING = frozenset({"ups.battery", "power.no_ride_through", "power.redundancy", "power.arming", "power.reserve_short"})


def judge(record: Record) -> list[str]:
    """Everything that did not hold."""
    checks = (
        check_sheds,
        check_outlets_opened,
        check_outlets_closed,
        check_back,
        check_shed_time,
        check_job,
        check_steps,
        check_intents,
        check_incidents,
        check_health,
    )
    return [f"{check.__name__.removeprefix('check_')}: {text}" for check in checks for text in check(record)]


def check_sheds(record: Record) -> Iterator[str]:
    """One feed never sheds (rule 5): neither by our hand nor by what we have armed."""
    away = {ups.name: list(_list_away(record, ups.name)) for ups in record.rack.ups}
    fired = [(one.at, "we") for one in record.ours if isinstance(one.order, FireShed)]
    for at, who in fired:
        there = [name for name, spans in away.items() if not any(begin <= at and at - VIEW_S <= end for begin, end in spans)]
        if there:
            yield f"at {at:.2f} {who} shed while feed {', '.join(there)} had mains"


def _list_away(record: Record, feed: str) -> Iterator[tuple[float, float]]:
    """When a feed was away, or said so."""
    pairs = (
        (f"utility/{feed}", {"utility.sag"}, {"utility.restored"}),
        (f"ups/{feed}", {"ups.on_battery", "ups.flagged", "ups.output_lost"}, {"ups.on_line", "ups.unflagged", "ups.bypass"}),
    )
    for subject, begins, ends in pairs:
        since = None
        for one in record.happened:
            if one.subject != subject:
                continue
            if one.kind in begins and since is None:
                since = one.at
            elif one.kind in ends and since is not None:
                yield since, one.at
                since = None
        if since is not None:
            yield since, math.inf
    for strike in record.storm.strikes:
        if strike.target == f"ups/{feed}" and strike.fault in {"ups.flag_stuck", "device.stale"}:
            yield strike.at, strike.ends  # it says so, or an old word of it stands


def check_outlets_opened(record: Record) -> Iterator[str]:
    """Rule 6: only what is sheddable is shed, and only cords of other nodes are switched off, of which nothing runs any more."""
    loads = {(pdu.name, outlet.number): outlet for pdu in record.rack.pdus for outlet in pdu.outlets}
    nodes = {node.name for node in record.rack.nodes} - {OWN}
    for one in record.ours:
        order = one.order
        if isinstance(order, ArmShed):
            wrong = [number for number in order.outlets if not loads[_bare(order.pdu), number].sheddable]
            if wrong or order.restore_s > 10.0 or order.lease_s > 120.0:
                yield f"at {one.at:.2f} {order} was armed"
        elif isinstance(order, CycleOutlet):
            yield f"at {one.at:.2f} {order}"
        elif isinstance(order, SwitchOutlet) and not order.on:
            if loads[_bare(order.pdu), order.outlet].load not in nodes:
                yield f"at {one.at:.2f} {loads[_bare(order.pdu), order.outlet].load} was switched off: {order}"
            if _find_job(record, one.at) == "running" and not _has_fault(record, one.at, "job."):  # which cannot stop in order
                yield f"at {one.at:.2f} {order} while the job ran"


def check_outlets_closed(record: Record) -> Iterator[str]:
    """Rule 8: what was off, tripped or off by a hand or EPO stays so; only what we opened is closed."""
    words = sorted(
        [*((one.at, 0, one) for one in record.happened if one.kind.startswith("outlet.")), *((one.at, 1, one) for one in record.orders)],
        key=lambda word: word[:2],
    )
    sent: dict[str, float] = {}  # our orders to open
    opened: dict[str, str] = {}  # by whom each open outlet was opened
    for at, _, word in words:
        if isinstance(word, Happening):
            who = word.text.partition(";")[0].removeprefix("Opened by ")
            ours = who == "order" and at - sent.get(word.subject, -math.inf) <= SWITCH_S
            opened[word.subject] = "" if word.kind == "outlet.closed" else "us" if ours else who
        elif isinstance(word, Ordered) and not word.by_hand and not word.refused and isinstance(word.order, SwitchOutlet):
            outlet = f"pdu/{_bare(word.order.pdu)}/outlet{word.order.outlet}"
            if not word.order.on:
                sent[outlet] = at
            elif opened.get(outlet, "") not in {"", "us"}:
                yield f"at {at:.2f} {outlet} was switched on, which was opened by {opened[outlet]}"


def check_back(record: Record) -> Iterator[str]:
    """What we opened is closed again, and caps are lifted, before the calm is over."""
    off = [subject for (subject, quantity), value in record.truth.items() if quantity == "outlet.state" and value != "on"]
    if off:
        yield f"off at the end: {', '.join(off)}"
    capped = [subject for (subject, quantity), value in record.truth.items() if quantity == "card.cap" and value is not None]
    if capped:
        yield f"capped at the end: {len(capped)} cards, {capped[0]}"


def check_shed_time(record: Record) -> Iterator[str]:
    """Rule 7: the fans of a PDU stand still for a bounded time in all; a storm is shorter than an hour."""
    for pdu in record.rack.pdus:
        mine = [one for one in record.happened if one.subject == f"pdu/{pdu.name}" and one.kind in {"shed.fired", "shed.restored"}]
        stood = sum(end.at - begin.at for begin, end in pairwise(mine) if (begin.kind, end.kind) == ("shed.fired", "shed.restored"))
        longest = max((end.at - begin.at for begin, end in pairwise(mine) if begin.kind == "shed.fired"), default=0.0)
        if stood > SHED_MOST_S + 0.01:
            yield f"the fans of pdu/{pdu.name} stood still for {stood:.0f} s"
        if longest > 10.01:
            yield f"a shed of pdu/{pdu.name} lasted {longest:.1f} s"


def check_job(record: Record) -> Iterator[str]:
    """The job is stopped at a saved step, and never lost by what we did or left undone while there was energy."""
    storm = record.storm
    for one in record.happened:
        if one.kind == "job.stopped" and one.value and not _has_fault(record, one.at, "job."):
            yield f"at {one.at:.1f} {one.text}"
        if one.kind == "job.lost":
            yield from _blame(record, one)
    for order in record.ours:
        if isinstance(order.order, StopJob) and all(not _was_away(record, ups.name, order.at, 240.0) for ups in record.rack.ups):
            yield f"at {order.at:.1f} the job was stopped on mains ({storm.rack})"


def _blame(record: Record, lost: Happening) -> Iterator[str]:
    """A node that lost its power: dead batteries, an empty battery after too short a time, breakers, EPO and hands are no fault of ours.

    Save, stop and margin take some 75 s. Where the batteries held out for longer, with the daemons alive and only the mains disturbed, the
    work could have been saved and stopped.
    """
    if not any(one.kind == "node.power_lost" and lost.at - 1.0 <= one.at <= lost.at for one in record.happened):
        if not _has_fault(record, lost.at, "job.", 700.0):
            yield f"at {lost.at:.1f} {lost.text}"
        return
    cut = [one.at for one in record.ours if isinstance(one.order, SwitchOutlet) and not one.order.on]
    if any(lost.at - SWITCH_S <= at <= lost.at for at in cut) and not _has_fault(record, lost.at, "job."):
        yield f"at {lost.at:.1f} it was lost by our hand: {lost.text}"
    others = ("ups.", "device.", "pdu.", "line.", "job.", KILL, CUT, "power.breaker", "power.epo", "outlet.")
    if any(strike.fault.startswith(others) and strike.at <= lost.at for strike in record.storm.strikes):
        return
    begun = max(_since_away(record, ups.name, lost.at) for ups in record.rack.ups)
    if lost.at - begun > 90.0:
        yield f"at {lost.at:.1f} it was lost after {lost.at - begun:.0f} s on battery: {lost.text}"


def _since_away(record: Record, feed: str, at: float) -> float:
    return max((begin for begin, end in _list_away(record, feed) if begin <= at <= end), default=at)


def _was_away(record: Record, feed: str, at: float, within: float) -> bool:
    return any(begin <= at and at - within <= end for begin, end in _list_away(record, feed))


def _has_fault(record: Record, at: float, prefix: str, after: float = 60.0) -> bool:
    return any(strike.fault.startswith(prefix) and strike.at <= at <= strike.ends + after for strike in record.storm.strikes)


def _find_job(record: Record, at: float) -> str:
    """What the job was doing by what had happened to it."""
    turns = {"job.stopped", "job.lost", "job.aborted", "job.restoring"}
    taken = [one.kind for one in record.happened if one.at <= at and one.kind in turns]
    return "running" if not taken or taken[-1] == "job.restoring" else "ended"


def check_steps(record: Record) -> Iterator[str]:
    """No committed step is lost: each start goes on from the newest."""
    newest = -1.0
    for one in record.happened:
        if one.kind == "checkpoint.committed" and one.value is not None:
            newest = max(newest, one.value)
        if one.kind == "job.resumed" and one.value is not None and 0.0 <= one.value < newest:
            yield f"at {one.at:.1f} {one.text} The newest committed step was {newest:.0f}."


def check_intents(record: Record) -> Iterator[str]:
    """Every order that came from a remedy has an intent in the journal that was there before it; leases are a loop's."""
    for one in record.ours:
        wanted = _name_kind(one.order)
        if wanted is None:
            continue
        kinds, target = wanted
        if not any(_covers(deed, kinds, target, one.at + record.epoch) for deed in record.deeds):
            yield f"at {one.at:.2f} {one.order} has no intent"


def _bare(name: str) -> str:
    """`A1` of `pdu/A1`: devices name themselves with their family."""
    return name.rpartition("/")[2]


def _name_kind(order: Order) -> tuple[set[str], str] | None:
    match order:
        case FireShed():
            return {"power.shed"}, f"pdu/{_bare(order.pdu)}"
        case SwitchOutlet():
            return {"power.on" if order.on else "power.off"}, f"pdu/{_bare(order.pdu)}/outlet{order.outlet}"
        case CapCard():
            return {"power.cap"}, order.card.partition("/")[0]
        case StopJob():
            return {"job.stop"}, f"job/{_bare(order.job)}"
        case ResumeJob():
            return {"job.resume"}, f"job/{_bare(order.job)}"
        case ArmShed() | DisarmShed():
            return None
    return None


def _covers(deed: Deed, kinds: set[str], target: str, at: float) -> bool:
    action = deed.action
    late = 60.0 if "job.stop" in kinds else SWITCH_S  # a job stops at the end of the save that it was asked for
    return action.step.kind in kinds and action.step.target == target and action.issued - 0.1 <= at <= action.deadline + late


def check_incidents(record: Record) -> Iterator[str]:
    """None stays open when its trouble is over."""
    for one in record.incidents:
        if one.closed is None and one.kind not in LASTING:
            yield f"{one.kind} of {one.subject} is open since {one.opened - record.epoch:.0f}: {one.text}"


def check_health(record: Record) -> Iterator[str]:
    """No task of a daemon ends with an exception, and no daemon by itself."""
    yield from record.failures
    yield from (line for line in record.errors if " raised: " not in line and " open: " not in line and "incident" not in line)
