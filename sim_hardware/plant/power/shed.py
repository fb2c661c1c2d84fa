"""The armed shed group of a PDU: both contacts open it, a one-shot timer closes it, and a lease bounds it (safety 5 to 8)."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.outlets import close_outlets, open_outlets
from sim_hardware.plant.power.state import Draft
from sim_hardware.plant.power.things import Pdu


def arm(draft: Draft, index: int, group: tuple[int, ...], restore_s: float, lease_s: float) -> None:
    """Arm, or renew the lease. A timer that runs already is not extended."""
    pdu = draft.pdus[index]
    if not pdu.armed:
        text = f"PDU {draft.spec.pdus[index].name} is armed with {len(group)} outlets for {lease_s:g} s."
        draft.tell("shed.armed", _name(draft, index), text, lease_s)
        pdu = _note(pdu, "armed")
    draft.pdus[index] = replace(pdu, armed=True, group=group, restore_s=restore_s, lease_until=draft.at + lease_s)


def trigger(draft: Draft, index: int) -> None:
    """Fire by order. Nothing more happens when the group is already open, or about to be."""
    pdu = draft.pdus[index]
    if math.isinf(pdu.fire_at) and math.isinf(pdu.restore_at):
        draft.pdus[index] = replace(pdu, fire_at=draft.at + figures.SWITCH_S, flagged_at=draft.at, by_order=True)


def disarm(draft: Draft, index: int, event: str) -> None:
    """Disarm (`disarmed` or `expired`), and close what the shed has open."""
    pdu = draft.pdus[index]
    if not pdu.armed:
        return
    words = {"disarmed": "is disarmed", "expired": "is disarmed, for its lease has expired"}
    draft.tell(f"shed.{event}", _name(draft, index), f"PDU {draft.spec.pdus[index].name} {words[event]}.")
    pdu = _note(pdu, event)
    draft.pdus[index] = replace(pdu, armed=False, lease_until=math.inf, fire_at=math.inf, restore_at=math.inf, shed=())
    close_outlets(draft, pdu.shed, "restore")
    draft.changed = True


def settle_shed(draft: Draft, index: int) -> None:
    """Look at the contacts, the switch, the timer and the lease."""
    _watch_contacts(draft, index)
    if draft.pdus[index].fire_at <= draft.at:
        _fire(draft, index)
    if draft.pdus[index].restore_at <= draft.at:
        _restore(draft, index)
    if draft.pdus[index].lease_until <= draft.at:
        disarm(draft, index, "expired")
    pdu = draft.pdus[index]
    if pdu.armed:
        draft.wake(min(pdu.fire_at, pdu.restore_at))
        draft.wake(pdu.lease_until)
        draft.wake(max(pdu.fire_at, pdu.restore_at))


def _watch_contacts(draft: Draft, index: int) -> None:
    """The edge at which the last of at least two contacts comes up starts the debounce; one feed never sheds (safety 5)."""
    pdu, contacts = draft.pdus[index], draft.spec.pdus[index].contacts
    flagged = len(contacts) >= 2 and all(draft.ups[ups].flag for ups in contacts)
    if flagged == pdu.flagged:
        return
    pdu = replace(pdu, flagged=flagged)
    if flagged and pdu.on and pdu.armed and math.isinf(pdu.restore_at) and math.isinf(pdu.fire_at):
        pdu = replace(pdu, flagged_at=draft.at, fire_at=draft.at + figures.DEBOUNCE_S + figures.SWITCH_S, by_order=False)
    elif not flagged and not pdu.by_order and draft.at < pdu.flagged_at + figures.DEBOUNCE_S:
        pdu = replace(pdu, fire_at=math.inf)
    draft.pdus[index] = pdu


def _fire(draft: Draft, index: int) -> None:
    pdu = draft.pdus[index]
    opened = open_outlets(draft, (outlet for outlet in pdu.group if outlet not in draft.locked), "shed")
    delay = (draft.at - pdu.flagged_at) * 1000.0
    text = f"PDU {draft.spec.pdus[index].name} opens {len(opened)} outlets, {delay:.1f} ms after its trigger."
    draft.tell("shed.fired", _name(draft, index), text, delay)
    draft.pdus[index] = replace(
        _note(pdu, "fired"),
        fire_at=math.inf,
        restore_at=draft.at + pdu.restore_s,
        shed=opened,
        opened=opened,
        event_at=draft.at,
        shed_delay_ms=delay,
    )


def _restore(draft: Draft, index: int) -> None:
    pdu = draft.pdus[index]
    draft.pdus[index] = replace(_note(pdu, "restored"), restore_at=math.inf, shed=())
    close_outlets(draft, pdu.shed, "restore")
    text = f"PDU {draft.spec.pdus[index].name} has restored what its shed opened, after {draft.at - (pdu.event_at or 0.0):g} s."
    draft.tell("shed.restored", _name(draft, index), text)
    draft.changed = True


def _note(pdu: Pdu, event: str) -> Pdu:
    return replace(pdu, event=event, event_count=pdu.event_count + 1)


def _name(draft: Draft, index: int) -> str:
    return f"pdu/{draft.spec.pdus[index].name}"
