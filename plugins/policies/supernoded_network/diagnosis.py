"""Why a switch, a port or a job loses packets or time, and what to change; every change is a person's to make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import NODE, Cause, Limits, View
from supernoded_network.buffer import TIMEOUTS
from supernoded_network.growth import grow_most, say_why
from supernoded_network.loss import PLACES
from supernoded_network.settings import NetworkSettings
from supernoded_network.switches import ECN, MARKING, PFC, declare, find_drift, look_at, propose

LATE_MARKS, WRONG_PAUSES = "ECN threshold too high", "PFC threshold wrong"  # what silent loss comes from
APPROVE = "Nothing is changed without your approval; the proposed change:"


class NetworkDiagnosis:
    """Explains what flows over the links."""

    name, scope = "network", NODE

    def __init__(self, limits: Limits, settings: NetworkSettings) -> None:
        self._limits, self._settings = limits, settings
        counted = dict.fromkeys((place.drops for place in PLACES), settings.loss_window_s)
        self.watches: Mapping[str, float] = {
            **dict.fromkeys((PFC, ECN, MARKING), 60.0),
            **counted,
            TIMEOUTS: settings.buffer_window_s,
        }

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """Causes, the best first."""
        found = [*self._explain_switch(seen, subject), *self._explain_loss(seen, subject), *self._explain_timeouts(seen, subject)]
        return sorted(found, key=lambda cause: -cause.weight)

    def _explain_switch(self, seen: View, subject: str) -> Iterator[Cause]:
        found, meant = look_at(seen, subject), declare(subject, self._limits, self._settings)
        drift = list(find_drift(found, meant, (meant.pfc or 0.0) - (meant.ecn or 0.0)))
        if drift:
            diff = propose(found, meant, subject, self._limits, self._settings)
            advice = f"{APPROVE}\n{diff}" if diff else "Declare this switch's thresholds under [plugins.network.switches]."
            yield Cause(name="settings drift", subject=subject, weight=0.9, evidence=tuple(drift), advice=advice, at=seen.now)

    def _explain_loss(self, seen: View, subject: str) -> Iterator[Cause]:
        """Drops with marking set too high or off, or pausing set wrong: bursts fill the buffer before anybody is told (N4, N6)."""
        for place in PLACES:
            drops = grow_most(seen, place.drops, subject)
            if not drops:
                continue
            high = [switch for switch in seen.subjects(ECN) if self._marks_late(seen, switch)]
            dropped = f"{drops:.0f} packets were dropped in {self._settings.loss_window_s:.0f} s"
            wrong = () if high else tuple(switch for switch in seen.subjects(PFC) if self._pauses_wrong(seen, switch))
            if wrong:
                yield self._blame_pauses(seen, wrong, dropped)
                continue
            evidence = (dropped, *(_say_late(seen, s) for s in high))
            advice = f"Lower the ECN threshold of {', '.join(high) or 'the switch'} to {self._limits.network.ecn_threshold_bytes} B."
            yield Cause(
                name=LATE_MARKS,
                subject=high[0] if high else subject,
                weight=0.85 if high else 0.5,
                evidence=evidence,
                against=() if seen.subjects(ECN) else (say_why(seen, ECN, subject),),
                advice=advice,
                at=seen.now,
            )

    def _blame_pauses(self, seen: View, wrong: Sequence[str], dropped: str) -> Cause:
        meant = self._limits.network.pfc_threshold_bytes
        return Cause(
            name=WRONG_PAUSES,
            subject=wrong[0],
            weight=0.85,
            evidence=(dropped, *(f"{switch} pauses from {seen.number(PFC, switch) or 0:.0f} B on" for switch in wrong)),
            advice=f"Set the PFC threshold of {', '.join(wrong)} to {meant} B.",
            at=seen.now,
        )

    def _pauses_wrong(self, seen: View, switch: str) -> bool:
        found, meant = look_at(seen, switch), declare(switch, self._limits, self._settings)
        return found.pfc is not None and meant.pfc is not None and found.pfc != meant.pfc

    def _marks_late(self, seen: View, switch: str) -> bool:
        found, meant = look_at(seen, switch), declare(switch, self._limits, self._settings)
        return found.marking == 0.0 or (found.ecn is not None and meant.ecn is not None and found.ecn > meant.ecn)

    def _explain_timeouts(self, seen: View, subject: str) -> Iterator[Cause]:
        timeouts = grow_most(seen, TIMEOUTS, subject)
        if timeouts:
            size = self._settings.buffer_mb
            advice = (
                f"Raise HCCL_BUFFSIZE, which is in MB and {size} where it is not set; each communication domain takes twice as much of a "
                f"card's memory. Try {2 * size}."
            )
            yield Cause(
                name="communication buffer too small",
                subject=subject,
                weight=0.6,
                evidence=(f"{timeouts:.0f} time-outs in {self._settings.buffer_window_s:.0f} s",),
                advice=advice,
                at=seen.now,
            )


def _say_late(seen: View, switch: str) -> str:
    ecn = seen.number(ECN, switch)
    if seen.number(MARKING, switch) == 0.0:
        return f"ECN marking is off at {switch}"
    return f"{switch} marks from {ecn or 0:.0f} B on"
