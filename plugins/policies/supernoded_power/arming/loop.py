"""Renews a PDU's lease for its shed, for as long as a shed would do no harm (safety rules 5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Setpoint, State, Topology, View
from supernoded_power.arming import headroom
from supernoded_power.arming.headroom import Cooling, find_headroom
from supernoded_power.mains import SOURCE, STATUS, find_rows
from supernoded_power.settings import PowerSettings

LEASE, COUNT, RESTORE = "pdu.lease_left", "pdu.event_count", "pdu.restore_s"
FIRINGS = "pdu.event"
LEASE_S, RENEW_S = 120.0, 30.0  # safety rule 7: a lease of 120 s, which is renewed well before it ends
HOUR = 3600.0
WATCHES: Mapping[str, float] = {**headroom.WATCHES, STATUS: 60.0, SOURCE: 60.0, FIRINGS: HOUR}


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
        if left <= RENEW_S:
            shed = most - left
            against.append(
                f"fans stood still for up to {shed:.0f} s in the last hour, at most {most:g} s are allowed, with {RENEW_S:g} kept back"
            )
        return against

    def find_left(self, seen: View) -> float:
        """Seconds for which its fans may still stand in this hour: a lease that is no longer cannot let them stand for more."""
        return self._set.shed_most_s - self.restore_s * count_firings(seen, self.pdu)


def count_firings(seen: View, pdu: str) -> int:
    """How often it has fired within the hour, as far as it was watched."""
    most = 0
    for source in seen.sources(FIRINGS, pdu):
        words = [one.value for one in seen.window(FIRINGS, pdu, source) if one.state is State.GOOD]
        most = max(most, sum(now == "fired" and before != "fired" for before, now in zip([None, *words], words, strict=False)))
    return most


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
        if self._arming.list_objections(seen):
            return memory, None
        return memory, Setpoint(target=self.target, quantity=LEASE, value=min(LEASE_S, self._arming.find_left(seen)), unit="s")
