"""PDUs: their breakers, their power, and what they do when it goes and comes back."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.outlets import START, close_outlets, forget_timers, open_outlets, plan_outlet, run_timers
from sim_hardware.plant.power.shed import disarm, settle_shed
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.things import Timer
from sim_hardware.plant.power.ups import find_output


def settle_pdus(draft: Draft) -> None:
    """Bring every PDU to what holds at this moment."""
    usable = [min(find_output(draft, feed)) >= figures.USABLE for feed in range(len(draft.feeds))]
    for index, spec in enumerate(draft.spec.pdus):
        if draft.pdus[index].closed and draft.pdus[index].heat >= 1.0:
            trip(draft, index, "overload")
        fed = draft.pdus[index].closed and usable[spec.feed]
        if fed != draft.pdus[index].fed:
            _note_power(draft, index, fed=fed)
        _watch_electronics(draft, index)
        settle_shed(draft, index)
    run_timers(draft)


def trip(draft: Draft, index: int, why: str) -> None:
    """Open a breaker. It is hot then, however it came."""
    name = draft.spec.pdus[index].name
    draft.pdus[index] = replace(draft.pdus[index], closed=False, heat=max(1.0, draft.pdus[index].heat))
    draft.tell("breaker.tripped", f"breaker/{name}", f"The breaker of PDU {name} has opened: {why}.")


def _note_power(draft: Draft, index: int, *, fed: bool) -> None:
    """Its electronics go on for a while; when they are off already, power starts the PDU."""
    off_at = math.inf if fed else draft.at + figures.PDU_HOLD_UP_S
    draft.pdus[index] = replace(draft.pdus[index], fed=fed, off_at=off_at)
    if fed and not draft.pdus[index].on:
        _start(draft, index)


def _watch_electronics(draft: Draft, index: int) -> None:
    """Without power for too long the PDU forgets, and its relays drop. Locked ones stay as they are."""
    pdu, name = draft.pdus[index], draft.spec.pdus[index].name
    if pdu.off_at > draft.at:
        draft.wake(pdu.off_at)
        return
    waiting = (*pdu.shed, *forget_timers(draft, index))
    draft.pdus[index] = replace(pdu, shed=())
    disarm(draft, index, "disarmed")
    outlets = draft.spec.pdus[index].outlets.values()
    dropped = open_outlets(draft, (outlet for outlet in outlets if outlet not in draft.locked), "loss of the PDU's power")
    restart = tuple(sorted({*waiting, *dropped}))
    draft.pdus[index] = replace(draft.pdus[index], on=False, off_at=math.inf, fire_at=math.inf, restart=restart)
    draft.tell("pdu.off", f"pdu/{name}", f"PDU {name} has been without power for {figures.PDU_HOLD_UP_S:g} s.")


def _start(draft: Draft, index: int) -> None:
    """The outlets that were on come on one after the other; nothing is armed."""
    pdu, name = draft.pdus[index], draft.spec.pdus[index].name
    draft.pdus[index] = replace(pdu, on=True, restart=())
    draft.tell("pdu.back", f"pdu/{name}", f"PDU {name} starts, and closes {len(pdu.restart)} outlets one by one.")
    close_outlets(draft, pdu.restart[:1], START)
    for place, outlet in enumerate(pdu.restart[1:], start=1):
        plan_outlet(draft, Timer(draft.at + place * figures.START_GAP_S, outlet, close=True, who=START))
