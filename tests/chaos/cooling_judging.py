"""What must hold of every storm over the coolant, by the plant's truth and by the orders that reached it.

Rules are those of docs/safety.md.

Each check gives a sentence about whatever did not hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from sim_hardware.plant.cards.orders import CapCard, PowerNode
from sim_hardware.plant.cooling.orders import Beat, CloseBranch
from sim_hardware.plant.job.orders import AbortCollective, StopJob
from sim_hardware.plant.power.orders import FireShed, SwitchOutlet
from sim_hardware.plant.words import Order
from tests.chaos.cooling_play import Record
from tests.chaos.cooling_storm import BEGINS, DEW, FLOW, LEAK, LEVEL, PRESSURE, PRIMARY, RETURN, SECOND, SUPPLY, VALVE
from tests.chaos.power_play import Ordered

HOT_C, NEAR_C = 95.0, 85.0  # of a die, where it slows down; where cards may be capped (`die_near_c` below it)
WATCHDOG_S = 15.0
WARM_C = 32.0  # of the supply: the floor of the most humid hall is 30
FLOW_S = 10.0  # for a look and an order, after a meter was well again
AFTER_S = 240.0  # that a fault of the plant may be felt for
CONDENSING_S = 150.0  # for the supply to follow a hall that gets humid at once: a volume of coolant warms up only by the cards' heat
SETPOINT, BAND = 22.0, 0.3  # C; K (T5)
NEVER = frozenset({"job.lost", "card.overheated", "part.overheated"})
DETECTED_S = 45.0  # in which a transmitter that gives nothing must have been told
NAMES = {  # by these words
    SUPPLY: "supply-sensor",
    SECOND: "supply-2-sensor",
    RETURN: "return",
    PRIMARY: "primary",
    FLOW: "flow",
    VALVE: "valve's feedback is unknown",
    DEW: "dew point unknown",
    LEVEL: "level-sensor",
    LEAK: "leak",
    PRESSURE: "pressure",
}


def judge(record: Record) -> list[str]:
    """Everything that did not hold."""
    checks = (check_daemons, check_happened, check_dies, check_supply, check_dew, check_shed, check_watchdog, check_masters, check_named)
    return [f"{check.__name__.removeprefix('check_')}: {text}" for check in checks for text in check(record)]


def share_in_band(record: Record) -> float:
    """Share of the storm's seconds in which the real supply was within its band."""
    seconds = [second for second in record.seconds if second.at >= BEGINS]
    return sum(abs(second.supply - SETPOINT) <= BAND for second in seconds) / len(seconds)


def check_daemons(record: Record) -> Iterator[str]:
    """No daemon dies, and no part of one fails over what it is shown."""
    yield from record.failures
    for at, who, what in record.told:
        if any(words in what for words in ("cannot judge", "cannot steer", "Traceback")):
            yield f"at {at:.1f} {who}: {what}"


def check_happened(record: Record) -> Iterator[str]:
    """What never happens, whatever is shown."""
    yield from (f"at {one.at:.1f} {one.kind}: {one.text}" for one in record.happened if one.kind in NEVER)


def check_dies(record: Record) -> Iterator[str]:
    """A die above its limit is on a card that is capped or stopped by then."""
    for second in record.seconds:
        if second.hottest > HOT_C and not any(one.at <= second.at for one in _list_sheds(record)):
            yield f"at {second.at:.1f} a die is at {second.hottest:.1f} C, and nothing was shed"
            return


def check_supply(record: Record) -> Iterator[str]:
    """No sensor that lies lets the supply get as warm as to matter to a die."""
    worst = max(record.seconds, key=lambda second: second.supply)
    if not record.storm.strikes and worst.supply > WARM_C:
        yield f"at {worst.at:.1f} the supply is at {worst.supply:.2f} C, {_say_lie(record, worst.at)}"


def check_dew(record: Record) -> Iterator[str]:
    """No supply below the dew point (safety rule 18), but while a hall that gets humid at once is followed."""
    humid = [strike.at for strike in record.storm.strikes if strike.fault == "room.humid"]
    for second in record.seconds:
        if second.supply < second.dew_point and not any(at <= second.at <= at + CONDENSING_S for at in humid):
            yield f"at {second.at:.1f} the supply is at {second.supply:.2f} C, the dew point at {second.dew_point:.2f}"
            return


def check_shed(record: Record) -> Iterator[str]:
    """No work is taken from the cards without a cause on the plant: a sensor that lies is none."""
    for one in _list_sheds(record):
        struck = any(strike.at <= one.at <= strike.ends + AFTER_S for strike in record.storm.strikes)
        hot = max((second.hottest for second in record.seconds if abs(second.at - one.at) < 20.0), default=0.0)
        if hot < NEAR_C and not struck and not _shows_no_flow(record, one):
            yield f"at {one.at:.1f} {one.order} at {hot:.1f} C, {_say_lie(record, one.at)}"
    if not record.storm.strikes and record.seconds[-1].job not in {"running", "saving"}:
        yield f"in the end the job is {record.seconds[-1].job}"


def _shows_no_flow(record: Record, one: Ordered) -> bool:
    """Whether it is a cap while the flow meter lies: without flow a die has seconds, so nobody waits to see whether it is true."""
    lies = (ill for ill in record.storm.ills if ill.quantity == FLOW and ill.at <= one.at <= ill.ends + FLOW_S)
    return isinstance(one.order, CapCard) and any(lies)


def _list_sheds(record: Record) -> list[Ordered]:
    return [one for one in record.ours if not one.refused and _is_shed(one.order)]


def _is_shed(order: Order) -> bool:
    match order:
        case CapCard(watts=watts):
            return watts is not None
        case SwitchOutlet(on=on) | PowerNode(on=on):
            return not on
        case CloseBranch(closed=closed):
            return closed
    return isinstance(order, StopJob | AbortCollective | FireShed)


def _say_lie(record: Record, at: float) -> str:
    lies = [ill for ill in record.storm.ills if ill.at <= at <= ill.ends + 60.0]
    return f"while {lies[-1].subject} {lies[-1].quantity} lies: {lies[-1].lie}" if lies else "while no sensor lies"


def check_watchdog(record: Record) -> Iterator[str]:
    """Direct control stands no longer than the watchdog without a heartbeat (safety rule 15)."""
    beats = [one.at for one in record.orders if isinstance(one.order, Beat) and not one.refused]
    for second in record.seconds:
        if second.control == "direct" and not any(second.at - WATCHDOG_S - 0.5 <= beat <= second.at for beat in beats):
            yield f"at {second.at:.1f} control is direct, and the last heartbeat is older than {WATCHDOG_S:g} s"
            return


def check_masters(record: Record) -> Iterator[str]:
    """A valve that follows its load is no second master."""
    if not record.storm.strikes:
        yield from (f"at {one.opened - record.epoch:.1f} {one.text}" for one in record.incidents if one.kind == "coolant.masters")


def check_named(record: Record) -> Iterator[str]:
    """A transmitter that gives nothing is named, in an incident or in what a loop says that it goes without."""
    if record.storm.way != "dead":
        return
    for ill in record.storm.ills:
        word = NAMES.get(ill.quantity)
        if word and not any(word in what for at, _, what in record.told if ill.at <= at <= ill.at + DETECTED_S):
            yield f"from {ill.at:.1f} on {ill.subject} {ill.quantity} gives nothing, and is not named"
