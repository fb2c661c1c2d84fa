"""PFC and ECN against what is declared, and the change that is proposed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import supernoded_network
from supernoded.history import History
from supernoded.model import Incident, Level, Outcome, Reading, Result, Severity, Step
from supernoded.parts import Case, World
from supernoded.plugin import Cause
from supernoded.topology import Topology
from supernoded_network.settings import NetworkSettings, SwitchSettings
from tests.plugins.network.readings import ask, make_node, read

SWITCH = "switch/s0"


def show(pfc: float | None = 120_000.0, ecn: float | None = 110_000.0, marking: float | None = 1.0, note: str = "") -> list[Reading]:
    values = {"switch.pfc_threshold": pfc, "switch.ecn_threshold": ecn, "switch.ecn": marking}
    return [read(SWITCH, quantity, value, note=note) for quantity, value in values.items()]


def test_as_declared(tmp_path: Path) -> None:
    verdict = ask(tmp_path, "switch.settings", show())
    assert (verdict.level, verdict.subject, verdict.unseen) == (Level.CLEAR, SWITCH, ())


@pytest.mark.parametrize(
    ("readings", "text"),
    [
        (
            show(pfc=60_000.0),
            "the PFC threshold is 60000 B, declared is 120000 B; ECN marks 50000 B above PFC, declared is 10000 B below",
        ),
        (
            show(ecn=130_000.0),
            "the ECN threshold is 130000 B, declared is 110000 B; ECN marks 10000 B above PFC, declared is 10000 B below",
        ),
        (
            show(ecn=109_999.0),
            "the ECN threshold is 109999 B, declared is 110000 B; ECN marks 10001 B below PFC, declared is 10000 B below",
        ),
        # both moved together: the distance is right, the thresholds are not
        (
            show(130_000.0, 120_000.0),
            "the PFC threshold is 130000 B, declared is 120000 B; the ECN threshold is 120000 B, declared is 110000 B",
        ),
        (show(marking=0.0), "ECN marking is off"),
    ],
)
def test_drift(tmp_path: Path, readings: list[Reading], text: str) -> None:
    verdict = ask(tmp_path, "switch.settings", readings)
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.WARNING)
    assert verdict.text == f"switch/s0 is not set as declared: {text}"


def test_what_cannot_be_seen_is_not_as_declared(tmp_path: Path) -> None:
    verdict = ask(tmp_path, "switch.settings", show(ecn=None, note="no answer"))
    assert (verdict.level, verdict.unseen) == (Level.UNSURE, ("switch.ecn_threshold: no answer",))
    assert ask(tmp_path, "switch.settings", show(pfc=60_000.0, ecn=None, note="no answer")).level is Level.RAISED
    assert ask(tmp_path, "switch.settings", show()[:1]).unseen == ("switch.ecn_threshold: never read", "switch.ecn: never read")


@pytest.mark.parametrize(
    ("own", "readings", "level"),
    [
        (SwitchSettings(pfc_threshold_bytes=200_000), show(200_000.0, 190_000.0), Level.CLEAR),  # ECN follows at its distance
        (SwitchSettings(pfc_threshold_bytes=200_000), show(), Level.RAISED),
        (SwitchSettings(pfc_threshold_bytes=200_000, ecn_threshold_bytes=150_000), show(200_000.0, 150_000.0), Level.CLEAR),
        (SwitchSettings(ecn_threshold_bytes=100_000), show(ecn=100_000.0), Level.CLEAR),
    ],
)
def test_a_switch_may_be_declared_otherwise(tmp_path: Path, own: SwitchSettings, readings: list[Reading], level: Level) -> None:
    assert ask(tmp_path, "switch.settings", readings, NetworkSettings(switches={"s0": own})).level is level
    assert ask(tmp_path, "switch.settings", show(), NetworkSettings(switches={"s1": own})).level is Level.CLEAR


def diagnose(folder: Path, readings: list[Reading]) -> list[Cause]:
    (diagnosis,) = supernoded_network.supernoded_diagnoses(NetworkSettings(), make_node(folder))
    history = History(diagnosis.watches)
    history.add(readings, 60.0)
    return list(diagnosis.diagnose(history.view(readings[-1].at, diagnosis.watches), SWITCH))


def test_the_change_is_proposed_as_a_diff(tmp_path: Path) -> None:
    (cause,) = diagnose(tmp_path, show(60_000.0, 130_000.0, 0.0))
    assert cause.advice == (
        "Nothing is changed without your approval; the proposed change:\n"
        "--- switch/s0 as it is\n"
        "+++ switch/s0 as declared\n"
        "-pfc priority 4 buffer-size 60000\n"
        "+pfc priority 4 buffer-size 120000\n"
        "-undo ecn enable\n"
        "+ecn enable\n"
        "-ecn threshold 130000\n"
        "+ecn threshold 110000"
    )
    assert diagnose(tmp_path, show()) == []


def test_people_get_the_diff_and_no_switch_is_touched(tmp_path: Path) -> None:
    remedies = {one.answers: one for one in supernoded_network.supernoded_remedies(NetworkSettings(), make_node(tmp_path))}
    incident = Incident(
        id="i1", kind="switch.settings", subject=SWITCH, scope="node", opened=1.0, severity=Severity.WARNING, text="switch/s0 has drifted"
    )
    case = Case(incident=incident, causes=tuple(diagnose(tmp_path, show(pfc=60_000.0))))
    step = remedies["switch.settings"].next(case, World(topology=Topology()), 1.0)
    assert isinstance(step, Step)
    assert (step.kind, step.target) == ("notify", SWITCH)
    assert step.reason.startswith(
        "switch/s0 has drifted. Nothing is changed without your approval; the proposed change:\n--- switch/s0 as it is"
    )
    told = msgspec.structs.replace(case, done={"notify": Outcome(action="i1/notify", result=Result.DONE, text="", at=2.0)})
    assert remedies["switch.settings"].next(told, World(topology=Topology()), 2.0) is None
    assert remedies["switch.settings"].next(msgspec.structs.replace(case, still_raised=False), World(topology=Topology()), 2.0) is None
