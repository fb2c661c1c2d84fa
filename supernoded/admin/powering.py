"""Readings and verdicts as one row a UPS and one a PDU. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from supernoded.admin.linking import natural
from supernoded.messages import Power, Strip, Supply
from supernoded.model import Level, Reading, Severity, State, Verdict
from supernoded.topology import Topology

_KINDS = ("power.", "ups.", "checkpoint.")
_WEIGHT = {Severity.INFO: 0, Severity.WARNING: 1, Severity.CRITICAL: 2}
_LEVELS = (Level.RAISED, Level.UNSURE, Level.CLEAR)  # the worst first

Seen = Mapping[str, Reading]  # of one subject: the GOOD reading of each quantity


def list_power(readings: Iterable[Reading], verdicts: Iterable[Verdict], topology: Topology, now: float, judged_by: str) -> Power:
    """All UPSes and PDUs that are described or read, and what the rules say of power."""
    seen = dict[str, dict[str, Reading]]()
    for reading in readings:
        of_subject = seen.setdefault(reading.subject, {})
        if reading.state is State.GOOD:
            of_subject.setdefault(reading.quantity, reading)
    said = sorted((verdict for verdict in verdicts if verdict.kind.startswith(_KINDS)), key=_rank)
    ups = {f"ups/{ups.name}" for ups in topology.ups} | {subject for subject in seen if subject.startswith("ups/")}
    pdus = {f"pdu/{pdu.name}": pdu.feed for pdu in topology.pdus}
    pdus |= {subject: "" for subject in seen if _is_pdu(subject) and subject not in pdus}
    return Power(
        now=now,
        supplies=tuple(_make_supply(subject, seen.get(subject, {}), said) for subject in sorted(ups, key=natural)),
        strips=tuple(_make_strip(subject, pdus[subject], seen, said) for subject in sorted(pdus, key=natural)),
        verdicts=tuple(said),
        judged_by=judged_by,
    )


def _is_pdu(subject: str) -> bool:
    return subject.startswith("pdu/") and subject.count("/") == 1


def _rank(verdict: Verdict) -> tuple[int, int, str, str]:
    return _LEVELS.index(verdict.level), -_WEIGHT[verdict.severity], verdict.kind, verdict.subject


def _find_worst(subject: str, said: Sequence[Verdict]) -> Verdict | None:
    """The worst that is said of it, or of its feed."""
    feed = subject.replace("ups/", "feed/", 1)
    return next((verdict for verdict in said if verdict.subject in (subject, feed)), None)


def _make_supply(subject: str, seen: Seen, said: Sequence[Verdict]) -> Supply:
    worst, status = _find_worst(subject, said), _value(seen, "ups.status")
    return Supply(
        subject=subject,
        status=tuple(sorted(status)) if isinstance(status, frozenset) else None,
        link=_text(seen, "ups.link"),
        input_voltage=_number(seen, "ups.input_voltage"),
        charge=_number(seen, "ups.charge"),
        runtime=_number(seen, "ups.runtime"),
        load=_number(seen, "ups.load"),
        level=worst.level if worst is not None else Level.UNSURE,
        severity=worst.severity if worst is not None else Severity.INFO,
        text=worst.text if worst is not None else "no rule has judged it",
    )


def _make_strip(subject: str, feed: str, seen: Mapping[str, Seen], said: Sequence[Verdict]) -> Strip:
    own, worst, armed = seen.get(subject, {}), _find_worst(subject, said), _number(seen.get(subject, {}), "pdu.armed")
    group = _value(own, "pdu.group")
    off = [outlet for outlet, of_it in seen.items() if outlet.startswith(f"{subject}/outlet") and _value(of_it, "outlet.state") == "off"]
    return Strip(
        subject=subject,
        feed=feed,
        power=_number(own, "pdu.power"),
        armed=None if armed is None else armed > 0.0,
        lease_left=_number(own, "pdu.lease_left"),
        group=tuple(sorted(group, key=natural)) if isinstance(group, frozenset) else None,
        restore_s=_number(own, "pdu.restore_s"),
        event=_text(own, "pdu.event"),
        event_age=_number(own, "pdu.event_age"),
        shed_delay=_number(own, "pdu.shed_delay"),
        off=tuple(outlet.removeprefix(f"{subject}/outlet") for outlet in sorted(off, key=natural)),
        level=worst.level if worst is not None else Level.UNSURE,
        severity=worst.severity if worst is not None else Severity.INFO,
        text=worst.text if worst is not None else "no rule has judged it",
    )


def _value(seen: Seen, quantity: str) -> object:
    return seen[quantity].value if quantity in seen else None


def _number(seen: Seen, quantity: str) -> float | None:
    value = _value(seen, quantity)
    return float(value) if isinstance(value, int | float) else None


def _text(seen: Seen, quantity: str) -> str:
    value = _value(seen, quantity)
    return value if isinstance(value, str) else ""
