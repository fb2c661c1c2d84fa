"""Renews a PDU's lease for its shed, for as long as a shed would do no harm (safety rules 5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Setpoint, Topology, View, say_why
from supernoded_power.arming import headroom, record
from supernoded_power.arming.headroom import Cooling, find_headroom
from supernoded_power.mains import SOURCE, STATUS, find_rows
from supernoded_power.settings import PowerSettings

LEASE, RESTORE = "pdu.lease_left", "pdu.restore_s"
LEASE_S, RENEW_S = 120.0, 30.0  # safety rule 7: a lease of 120 s, which is renewed well before it ends
WATCHES: Mapping[str, float] = {**headroom.WATCHES, **record.WATCHES, STATUS: 60.0, SOURCE: 60.0}


class Arming:
    """What must hold for one PDU to be armed. Pure; the loop renews by it, and the rule says by it why nothing is armed."""

    def __init__(self, site: Topology, pdu: str, settings: PowerSettings) -> None:
        self.pdu, self._set = f"pdu/{pdu}", settings
        (described,) = [one for one in site.pdus if one.name == pdu]
        self.feed, self.restore_s = described.feed, described.restore_s
        self.group = frozenset(str(outlet.number) for outlet in described.outlets if outlet.sheddable)
        self._ups = f"ups/{described.feed}" if any(ups.name == described.feed for ups in site.ups) else ""
        self._cooling = Cooling.of(site, pdu)

    def list_objections(self, seen: View) -> Sequence[str]:
        """What speaks against a shed now; empty = it may be armed."""
        against = list(find_headroom(seen, self._cooling, self._set).against)
        if self._ups:
            row, _ = find_rows(seen, self._ups, self._set.ignored_flags)
            if not row.sheds:
                against.append(f"{self._ups}: {row.means}")
        left, most = self.find_left(seen), self._set.shed_most_s
        if left is None:
            against.append(f"how long fans stood still in the last hour cannot be told: {say_why(seen, record.COUNT, self.pdu)}")
        elif left <= RENEW_S:
            shed = most - left
            against.append(
                f"fans stood still for up to {shed:.0f} s in the last hour, at most {most:g} s are allowed, with {RENEW_S:g} kept back"
            )
        return against

    def find_left(self, seen: View) -> float | None:
        """Seconds for which its fans may still stand in this hour, None = not told: a shorter lease cannot let them stand for more."""
        firings = record.count_firings(seen, self.pdu)
        return None if firings is None else self._set.shed_most_s - min(self.restore_s * firings, record.HOUR)


class ArmingLoop:
    """Turns one PDU's shed: a setpoint is a lease in seconds, and none lets it run out."""

    period = RENEW_S
    watches: Mapping[str, float] = WATCHES

    def __init__(self, arming: Arming) -> None:
        self._arming = arming
        self.name = f"arming of {arming.pdu}"
        self.scope = f"feed/{arming.feed}"
        self.target = f"{arming.pdu}/shed"

    def start(self, now_at: Setpoint | None) -> None:
        """A lease that stands is simply renewed; what speaks against it is looked at anew each time."""

    def steer(self, seen: View, memory: None) -> tuple[None, Setpoint | None]:
        """Another lease, or nothing."""
        left = self._arming.find_left(seen)
        if left is None or self._arming.list_objections(seen):
            return memory, None
        return memory, Setpoint(target=self.target, quantity=LEASE, value=min(LEASE_S, left), unit="s")
