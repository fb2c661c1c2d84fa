"""A PDU that is not armed as it should be, and which of the reasons it is (safety rules 7 and 14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Topology, Verdict, View, is_read, say_why
from supernoded_power.arming.loop import RESTORE, WATCHES, Arming
from supernoded_power.arming.record import EVENT
from supernoded_power.seeing import judge
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_sheddable

ARMED, GROUP, SHEDDABLE = "pdu.armed", "pdu.group", "pdu.sheddable"
POWER, OUTLET = "pdu.power", "outlet.state"  # by which a PDU is seen that has no group


NO_GROUP = (
    "shows no group that it would shed and close again by itself, so that nothing of it is shed, whatever is marked `sheddable`: "
    "take that mark away, or reach it in a way that arms it"
)


class Standing(msgspec.Struct, frozen=True):
    """Of each PDU: whether it was ever armed, and since when it is not, or is not seen to be."""

    was_armed: dict[str, bool] = {}
    unarmed_since: dict[str, float] = {}


class ArmingRule:
    """Raises a PDU whose lease expired, that was disarmed, that is armed differently, or that cannot be armed for want of headroom."""

    kind = "power.arming"
    watches: Mapping[str, float] = {**WATCHES, **dict.fromkeys((ARMED, GROUP, SHEDDABLE, RESTORE, POWER, OUTLET), 60.0)}

    def __init__(self, site: Topology, settings: PowerSettings) -> None:
        self.scope, self._grace_s = settings.subject, settings.arming_grace_s
        self._armings = [Arming(site, pdu.name, settings) for pdu in site.pdus if list_sheddable(site, pdu.name)]

    def start(self) -> Standing:
        """No PDU was seen armed."""
        return Standing()

    def judge(self, seen: View, memory: Standing) -> tuple[Standing, Sequence[Verdict]]:
        """The level of every PDU with outlets that may be shed, once it tells whether it is armed, or is read and tells no such thing."""
        read = [arming for arming in self._armings if is_read(seen, ARMED, arming.pdu) or _is_seen(seen, arming)]
        memory = _remember(seen, memory, [arming.pdu for arming in read])
        return memory, [self._judge(seen, arming, memory) for arming in read]

    def _judge(self, seen: View, arming: Arming, memory: Standing) -> Verdict:
        pdu, armed = arming.pdu, seen.number(ARMED, arming.pdu)
        if armed is None:
            why, unseen_s = say_why(seen, ARMED, pdu), seen.now - memory.unarmed_since.get(pdu, seen.now)
            level = Level.RAISED if unseen_s >= self._grace_s else Level.UNSURE
            text = (
                f"whether {pdu} is armed cannot be seen for {unseen_s:.0f} s: {why}" if is_read(seen, ARMED, pdu) else f"{pdu} {NO_GROUP}"
            )
            return judge(self.kind, pdu, seen.now, level, text, unseen=(why,))
        wrong = list(_list_differences(seen, arming))
        if wrong:
            return judge(self.kind, pdu, seen.now, Level.RAISED, f"{pdu} is not set as described: {'; '.join(wrong)}")
        if armed:
            return judge(self.kind, pdu, seen.now, Level.CLEAR, f"{pdu} is armed")
        return self._judge_unarmed(seen, arming, memory)

    def _judge_unarmed(self, seen: View, arming: Arming, memory: Standing) -> Verdict:
        pdu, last = arming.pdu, seen.text(EVENT, arming.pdu)
        if last == "expired":
            against = arming.list_objections(seen)
            why = f", and it was not renewed: {'; '.join(against)}" if against else ""
            return judge(self.kind, pdu, seen.now, Level.RAISED, f"{pdu} is not armed: its lease ran out{why}")
        off_for = seen.now - memory.unarmed_since.get(pdu, seen.now)
        if off_for < self._grace_s:
            return judge(self.kind, pdu, seen.now, Level.UNSURE, f"{pdu} is not armed for {off_for:.0f} s")
        against = arming.list_objections(seen)
        if against:
            return judge(self.kind, pdu, seen.now, Level.RAISED, f"{pdu} is not armed, because of heat or its UPS: {'; '.join(against)}")
        if memory.was_armed.get(pdu):
            how = "was disarmed" if last == "disarmed" else f"is not armed for {off_for:.0f} s, though nothing speaks against it"
            return judge(self.kind, pdu, seen.now, Level.RAISED, f"{pdu} {how}")
        return judge(self.kind, pdu, seen.now, Level.UNSURE, f"{pdu} was never seen armed: nobody arms it, unless the policy is in `act`")


def _remember(seen: View, memory: Standing, pdus: Sequence[str]) -> Standing:
    armed = {pdu: seen.number(ARMED, pdu) for pdu in pdus}
    was = {pdu: memory.was_armed.get(pdu, False) or bool(state) for pdu, state in armed.items()}
    return Standing(was, {pdu: memory.unarmed_since.get(pdu, seen.now) for pdu, state in armed.items() if not state})


def _is_seen(seen: View, arming: Arming) -> bool:
    outlets = (f"{arming.pdu}/outlet{number}" for number in sorted(arming.group))
    return is_read(seen, POWER, arming.pdu) or any(is_read(seen, OUTLET, outlet) for outlet in outlets)


def _list_differences(seen: View, arming: Arming) -> Iterator[str]:
    """What the PDU shows that is not as described; the timer and the group count while it is armed."""
    group, allowed = seen.flags(GROUP, arming.pdu), seen.flags(SHEDDABLE, arming.pdu)
    restore, armed = seen.number(RESTORE, arming.pdu), bool(seen.number(ARMED, arming.pdu))
    if armed and group is not None and group != arming.group:
        yield f"its group is {_name(group)}, described is {_name(arming.group)}"
    if allowed is not None and not arming.group <= allowed:
        yield f"it lets {_name(allowed)} be shed, described is {_name(arming.group)}"
    if armed and restore is not None and restore != arming.restore_s:
        yield f"its restore timer is at {restore:g} s, described are {arming.restore_s:g} s"


def _name(outlets: frozenset[str]) -> str:
    numbers = sorted(outlets, key=lambda one: (len(one), one))
    return f"outlets {', '.join(numbers)}" if numbers else "no outlet"
