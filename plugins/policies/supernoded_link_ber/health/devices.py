"""What a NIC says of itself, and whether a node's management controller watches its links at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.seeing import list_numbers, list_ports, list_told, name_all

HEALTH, MONITOR = "nic.health", "bmc.link_monitor"
MEANT = {
    "slot-power": "its slot gives too little power: check the riser, the power cable and the slot's limit",
    "module-temperature": "its module is too hot: check air flow and the module's power class",
    "module-fault": "its module reports a fault: reseat it, then replace it",
    "firmware": "its firmware complains: bring it to the site's version",
    "pcie": "its PCIe link is degraded: reseat the card and look at the slot",
}


class DegradedRule:
    """Raises a NIC that works worse than it should, such as one whose slot gives too little power. It is not a lost card."""

    kind, scope = "nic.degraded", NODE
    watches: Mapping[str, float] = {HEALTH: 3600.0}

    def __init__(self, is_under_maintenance: Callable[[str], bool]) -> None:
        self._is_under_maintenance = is_under_maintenance

    def start(self) -> None:
        """It needs no memory: what a NIC says stands until it says otherwise."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every NIC that tells its health."""
        return memory, [self._judge(seen, nic) for nic in list_ports(seen, HEALTH)]

    def _judge(self, seen: View, nic: str) -> Verdict:
        told = [reading.value for reading in list_told(seen, HEALTH, nic).values() if isinstance(reading.value, frozenset)]
        flags = sorted({flag for value in told for flag in value})
        unseen: tuple[str, ...] = ()
        if self._is_under_maintenance(nic):
            level, text, unseen = Level.UNSURE, "not judged, it is under maintenance", (HEALTH,)
        elif flags:
            meant = "; ".join(MEANT[flag] for flag in flags if flag in MEANT)
            level, text = Level.RAISED, f"works degraded, it reports {name_all(flags)}{f': {meant}' if meant else ''}"
        elif not told:
            newest = seen.newest(HEALTH, nic)
            why = newest.note if newest is not None else ""
            level, text, unseen = Level.UNSURE, f"its health cannot be seen: {why}", (f"{HEALTH}: {why}",)
        else:
            level, text = Level.CLEAR, "reports nothing"
        return Verdict(kind=self.kind, subject=nic, level=level, text=f"{nic}: {text}", at=seen.now, unseen=unseen)


class MonitorRule:
    """Raises a node whose management controller has its link monitor off (L4): nobody would see its bit errors when its system is down."""

    kind, scope = "bmc.monitor_off", NODE
    watches: Mapping[str, float] = {MONITOR: 3600.0}

    def __init__(self, is_under_maintenance: Callable[[str], bool]) -> None:
        self._is_under_maintenance = is_under_maintenance

    def start(self) -> None:
        """It needs no memory: the newest word counts."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every node, or controller, that tells."""
        return memory, [self._judge(seen, subject) for subject in seen.subjects(MONITOR)]

    def _judge(self, seen: View, subject: str) -> Verdict:
        told = list_numbers(seen, MONITOR, subject)
        unseen: tuple[str, ...] = ()
        if self._is_under_maintenance(subject):
            level, text, unseen = Level.UNSURE, "not judged, it is under maintenance", (MONITOR,)
        elif not told:
            newest = seen.newest(MONITOR, subject)
            why = newest.note if newest is not None else ""
            level, text, unseen = Level.UNSURE, f"whether the link monitor of its BMC is on cannot be seen: {why}", (f"{MONITOR}: {why}",)
        elif any(told.values()):
            level, text = Level.CLEAR, "the link monitor of its BMC is on"
        else:
            level, text = Level.RAISED, "the link monitor of its BMC is off, it has to be switched on at each node (L4)"
        return Verdict(kind=self.kind, subject=subject, level=level, text=f"{subject}: {text}", at=seen.now, unseen=unseen)
