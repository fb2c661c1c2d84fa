"""People are told, once; what is proposed is theirs to do."""

from __future__ import annotations

from supernoded.plugin import Case, Limits, Step, World
from supernoded_network.diagnosis import LATE_MARKS, WRONG_PAUSES
from supernoded_network.settings import NetworkSettings

NOTIFY = "notify"
CAUSES = {  # kind -> the causes that its notice may be about
    "switch.settings": ("settings drift",),
    "link.loss": (LATE_MARKS, WRONG_PAUSES),
    "comm.buffer": ("communication buffer too small",),
}


class TellRemedy:
    """Drafts one notice: what was seen, and what the diagnosis advises."""

    def __init__(self, answers: str, limits: Limits, settings: NetworkSettings) -> None:
        self.answers = answers
        self._advice = {
            "switch.settings": "Nothing is changed without your approval.",
            "link.loss": f"Lower the ECN threshold to {limits.network.ecn_threshold_bytes} B.",
            "link.mtu": f"Set it with `ip link set dev <interface> mtu {limits.network.mtu_bytes}`, at every hop of the path.",
            "comm.buffer": f"Raise HCCL_BUFFSIZE, which is in MB and {settings.buffer_mb} where it is not set.",
        }[answers]

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice, once."""
        del world, now
        if NOTIFY in case.done or not case.still_raised:
            return None
        fitting = (cause.advice for cause in case.causes if cause.name in CAUSES.get(self.answers, ()) and cause.advice)
        advice = next(fitting, self._advice)
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=f"{case.incident.text.rstrip('.')}. {advice}")
