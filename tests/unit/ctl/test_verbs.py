"""Every verb against the real server on a real socket, as a person and as a program see it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner, Result

from supernoded.ctl.links import render_diagnosis
from supernoded.ctl.main import program
from supernoded.ctl.power import render_power
from supernoded.errors import JournalError
from supernoded.messages import (
    ActionFilter,
    Actions,
    Answer,
    Diagnosed,
    EventFilter,
    Events,
    Holds,
    IncidentFilter,
    Incidents,
    Jobs,
    Links,
    ModeChanged,
    Modes,
    Plugins,
    Power,
    ReadingFilter,
    Readings,
    Requested,
    Status,
    Story,
    Timeline,
)
from supernoded.model import Level, Mode, State, Verdict
from tests.unit.admin.fake_desk import INCIDENT, LONG_SENTENCE, NOW, OUTAGE, STATUS, FakeDesk, serving

Run = Callable[..., Result]


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def run(tmp_path: Path, desk: FakeDesk) -> Iterator[Run]:
    """Runs supernodectl against a daemon with this desk."""

    def call(*arguments: str, typed: str = "") -> Result:
        return CliRunner().invoke(program, arguments, input=typed, env={"SUPERNODED_SOCKET": str(tmp_path / "s")}, prog_name="supernodectl")

    with serving(tmp_path / "s", desk):
        yield call


VERBS: list[tuple[list[str], type[Answer], str]] = [
    (["status"], Status, "incidents  3 open: 1 critical, 2 warning"),
    (["plugins"], Plugins, "acme    acme-cdu 2        left out  cannot be imported: foo"),
    (["plugins"], Plugins, "host    supernoded 0.1.0  runs      2 sensors"),
    (["readings"], Readings, "n0/card3/port0  link.symbol_errors  12,345,678  good     2 s ago"),
    (["links"], Links, "n0/card3/port0  up        200 Gb/s x4  n0/card4/port1  0.09 mW  critical  n0/card3/port0: 9 symbol errors"),
    (["links", "--troubled"], Links, "n0/card3/port1  conflict"),
    (["diagnose", "n0/card3/port0"], Diagnosed, "1. unseated optic, 82 %, at n0/card3/port0\n   + Rx power is 0.09 mW"),
    (["power"], Power, "critical: both feeds are lost"),
    (["power"], Power, "ups/A  DISCHARG OB  0 V    97 %    6 min 40 s  41 %  critical  ups/A is on battery: its input shows 0 V of 230 V"),
    (["power"], Power, "ups/B  - (stale)"),
    (["power"], Power, "pdu/A1  A     9,000 W  2 outlets, 93 s left  after 10 s  restored, shed in 2.3 ms 1 min ago  12   good"),
    (["power", "timeline"], Timeline, "-0.250 s  seen     ups/A       ups.status: ol -> discharg ob"),
    (["power", "timeline", OUTAGE.id], Timeline, "+0.500 s  done     pdu/A1      power.shed: 8 outlets open, 2.3 ms after the trigger"),
    (["jobs"], Jobs, "train  saving  2 of 2  1,204  1.5 s      4.25 s  0.5 s  4 min 54 s  1100 (3 min old)  checkpoint hand/1 is saving"),
    (["jobs"], Jobs, "train: durable: /mnt/durable is full"),
    (["jobs", "train"], Jobs, "0     n0/card0  saving   1,204"),
    (["jobs", "show", "train"], Jobs, "0     n0/card0  saving   1,204"),
    (["checkpoint", "request", "train", "--reason", "before the fibre is changed"], Requested, "request      hand/1"),
    (["checkpoint", "status", "train"], Requested, "deadline     in 27 s"),
    (
        ["checkpoint", "status", "train", "hand/0"],
        Requested,
        "Job train was not asked for a checkpoint; `supernodectl",
    ),
    (["incidents"], Incidents, "i0123456789a  critical  n0/card3/port0  link.ber"),
    (["incidents", INCIDENT.id], Story, "stored as  incidents/i0123456789a"),
    (["events"], Events, "raised  critical  n0/card3/port0  link.ber"),
    (["actions"], Actions, "i0123456789a/isolate  it is out  its link corrupts data"),
    (["top"], Status, "link.ber  i0123456789a  rate is 3.2e-10"),
    (["holds"], Holds, "n0/card5  SN0005  -      alice  "),
    (["mode"], Modes, "thermal  act   alice"),
    (["mode", "observe", "--policy", "thermal"], ModeChanged, "thermal is in mode observe as before. Nothing had to be handed back."),
]


def test_a_diagnosis_begins_with_the_first_trouble_from_the_hardware_up(run: Run) -> None:
    lines = run("diagnose", "n0/card3/port0").stdout.splitlines()
    assert lines[0] == "n0/card3/port0: 9 symbol errors in 1.0e12 bits, a BER of 9e-12, above 1e-12 (link.ber)."
    assert lines[1].startswith(f"Open incident {INCIDENT.id} since 2 min 5 s ago: ")
    assert "   - the module is seen" in lines
    assert "   do: reseat the optic at n0/card3/port0" in lines


def test_a_subject_that_nobody_knows_is_a_no(run: Run) -> None:
    result = run("diagnose", "n0/card9")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing is known of 'n0/card9'" in result.stderr


def test_no_subject_at_all_is_wrong_usage(run: Run) -> None:
    result = run("diagnose", " ")
    assert (result.exit_code, "name one, such as n0/card3/port0" in result.stderr) == (2, True)


def test_of_what_nothing_is_read_it_is_said_that_the_trouble_is_around_it() -> None:
    around = Verdict(kind="bmc.monitor_off", subject="n0", level=Level.RAISED, text="n0: its monitor is off", at=1.0)
    lines = render_diagnosis(Diagnosed(now=2.0, subject="n0/crad3", related=("n0",), verdicts=(around,)))
    assert lines[0] == "Nothing is read or judged of n0/crad3 itself; what follows is of what is around it."
    own = render_diagnosis(Diagnosed(now=2.0, subject="n0", verdicts=(around,)))
    assert own[0] == "n0: its monitor is off (bmc.monitor_off)."


def test_an_incident_without_a_timeline_is_a_no(run: Run) -> None:
    result = run("power", "timeline", "i404")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "there is no incident 'i404'" in result.stderr


def test_a_checkpoint_is_waited_for_stage_by_stage(run: Run, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.ctl.jobs.LOOK_EVERY", 0.0)
    desk.stages = ["agreed", "saving", "saving", "durable"]
    result = run("checkpoint", "request", "train", "--wait", "--deadline", "30")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == ["3 s: checkpoint hand/1 is agreed at step 1204", "3 s: checkpoint hand/1 is saving at step 1204"]
    assert "stage        durable" in result.stdout
    assert [asked.deadline_s for asked in desk.checkpoints] == [30.0]


def test_a_checkpoint_that_fails_is_a_no(run: Run, desk: FakeDesk) -> None:
    desk.stages = ["failed"]
    result = run("checkpoint", "request", "train", "--wait")
    assert (result.exit_code, "checkpoint hand/1 is failed" in result.stderr) == (1, True)


def test_without_a_durable_tier_saved_is_what_was_asked_for_and_a_hard_limit_ends_the_waiting(run: Run, desk: FakeDesk) -> None:
    desk.stages, desk.more = ["saved"], {"wanted": "saved"}
    assert run("checkpoint", "request", "train", "--wait").exit_code == 0
    desk.more = {"hard": NOW - 1.0}
    assert run("checkpoint", "request", "train", "--wait").exit_code == 1


def test_a_job_that_nobody_knows_is_a_no(run: Run) -> None:
    for arguments in (("checkpoint", "request", "trian"), ("checkpoint", "status", "trian")):
        result = run(*arguments)
        assert (result.exit_code, "no rank of job 'trian'" in result.stderr) == (1, True)
    assert "No rank of job 'trian' has connected to this node; there are train." in run("jobs", "trian").stdout


def test_a_checkpoint_by_hand_is_journalled(run: Run, desk: FakeDesk) -> None:
    run("checkpoint", "request", "train")
    (asked,) = desk.recorded
    assert (asked.verb, asked.accepted) == ("POST /v1/jobs/train/checkpoint", True)


def test_calm_power_says_what_it_does_not_know() -> None:
    calm = Verdict(kind="power.outage", subject="power/site", level=Level.CLEAR, text="all feeds carry", at=1.0)
    assert render_power(Power(now=2.0, verdicts=(calm,)))[0] == "All is well with power."
    unsure = msgspec.structs.replace(calm, level=Level.UNSURE)
    assert str(render_power(Power(now=2.0, verdicts=(calm, unsure)))[0]).endswith("1 verdict could not be given for want of readings.")
    elsewhere = render_power(Power(now=2.0, judged_by="n0"))[0]
    assert elsewhere == "No rule of this daemon judges power; node n0 has the role that judges it."


def test_a_pattern_chooses_links(run: Run) -> None:
    assert "port0" not in run("links", "*/port1").stdout
    assert "No links match subject 'n7'." in run("links", "n7").stdout


@pytest.mark.parametrize(("arguments", "kind", "golden"), VERBS)
def test_people_get_a_table(run: Run, arguments: list[str], kind: type[Answer], golden: str) -> None:
    result = run(*arguments)
    assert golden in result.stdout
    assert result.exit_code == 0
    assert not any(line != line.rstrip() for line in result.stdout.splitlines())


@pytest.mark.parametrize(("arguments", "kind", "golden"), VERBS)
def test_programs_get_the_message(run: Run, arguments: list[str], kind: type[Answer], golden: str) -> None:
    before, after = run("-o", "json", *arguments), run(*arguments, "-o", "json")
    assert before.exit_code == after.exit_code == 0
    assert before.stdout == after.stdout
    assert msgspec.json.decode(before.stdout, type=kind).schema == 1


def test_ids_and_sentences_are_whole_in_a_pipe(run: Run) -> None:
    assert LONG_SENTENCE.strip() in run("incidents").stdout
    assert "\x1b" not in run("incidents").stdout


def test_status_tells_a_newcomer_what_matters(run: Run) -> None:
    text = run("status").stdout
    for part in (
        "node       n0 of cluster lab",
        "DEGRADED",
        "1 of 2 sensors fails",
        "observe: it watches and rehearses, nothing is written to any device",
        "but thermal is in act: it may write to devices, within its guards",
        "2 sensors, 1 failing",
        "fabric.ib for 1 min 1 s: /sys/class/infiniband: no such folder",
        "42 good, 3 unknown (supernodectl readings --state unknown)",
        "well; /var/lib/supernoded/journal.db, 3 MiB",
        "NOT connected to 127.0.0.1:1883 for 10 s (connection refused), 7 messages waiting",
        "cdu/cdu0 (epoch 3)",
        "1 out of service: supernodectl holds",
        "plugin acme: cannot be imported: no module named foo",
    ):
        assert part in text
    assert "link_ber" not in text  # it is in the mode of all
    assert len(text.splitlines()) < 25


def test_a_failing_sensor_says_why_once(run: Run, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    [failing] = STATUS.failing_sensors

    async def status() -> Status:
        return msgspec.structs.replace(STATUS, troubles=(f"sensor {failing.name}: {failing.reason}",))

    monkeypatch.setattr(desk, "status", status)
    text = run("status").stdout
    assert text.count(failing.reason) == 1
    assert f"{failing.name} for 1 min 1 s\n" in text


def test_a_status_without_trouble_is_ready(run: Run, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    calm = Status(now=1.0, node="n0", cluster="c", version="1", pid=1, started=0.0, ready=True, mode=Mode.OBSERVE, journal=STATUS.journal)

    async def status() -> Status:
        return calm

    monkeypatch.setattr(desk, "status", status)
    text = run("status").stdout
    assert "state      READY" in text
    assert "incidents  none open" in text
    calm = msgspec.structs.replace(calm, ready=False)
    assert "STARTING" in run("status").stdout


def test_options_become_filters(run: Run, desk: FakeDesk) -> None:
    run("readings", "n0/*", "--quantity", "link.*", "--state", "unknown", "--history", "--limit", "7")
    run("incidents", "--all", "--subject", "n0/*")
    run("events", "n0/*", "--incident", "i1")
    run("actions", "n0/*", "--policy", "thermal")
    assert desk.asked == [
        ReadingFilter(subject="n0/*", quantity="link.*", state=State.UNKNOWN, history=True, limit=7),
        IncidentFilter(all=True, subject="n0/*"),
        EventFilter(subject="n0/*", incident="i1"),
        ActionFilter(target="n0/*", policy="thermal"),
    ]


def test_a_story_says_where_each_of_its_rows_is(run: Run) -> None:
    text = run("incidents", INCIDENT.id).stdout
    assert f"journal    {STATUS.journal.place}" in text
    assert "n0/card3/port0  events/e0  rate is 3.2e-10" in text
    assert f"rehearsals/{INCIDENT.id}/isolate" in text


def test_that_nothing_matches_is_said_with_what_was_asked(run: Run, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(wanted: ReadingFilter) -> Readings:
        return Readings(now=1.0)

    monkeypatch.setattr(desk, "readings", nothing)
    asked = run("readings", "n9", "--quantity", "link.*", "--state", "stale").stdout
    assert asked == "No readings match subject 'n9' and quantity 'link.*' and state 'stale'. 'n9/*' matches what is below it.\n"
    assert run("readings", "n9*").stdout == "No readings match subject 'n9*'.\n"
    assert run("readings").stdout == "There are no readings.\n"


def test_what_is_over_the_limit_is_said(run: Run) -> None:
    assert "... and 4 more" in run("readings").stdout


def test_what_the_daemon_refuses_exits_1(run: Run, desk: FakeDesk) -> None:
    result = run("incidents", "../../etc")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "supernodectl: there is no incident '../../etc'" in result.stderr
    assert run("mode", "observe", "--policy", "nope").exit_code == 1
    desk.trouble = JournalError("the journal is locked")
    assert (run("status").exit_code, run("status").stderr) == (1, "supernodectl: the journal is locked\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"],
        ["status", "-o", "yaml"],
        ["mode", "full", "--policy", "thermal"],
        ["mode", "observe"],
        ["readings", "--limit", "0"],
        ["-x"],
    ],
)
def test_wrong_usage_exits_2(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_nobody_there_exits_3(tmp_path: Path) -> None:
    for arguments in (["--socket", str(tmp_path / "absent"), "status"], ["status", "--socket", str(tmp_path / "absent")]):
        result = CliRunner().invoke(program, arguments)
        assert result.exit_code == 3
        assert f"{tmp_path}/absent: there is no such file" in result.stderr
        assert "sudo systemctl start supernoded" in result.stderr


def test_a_socket_that_this_user_may_not_read_exits_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs").touch()
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.R_OK and access(path, mode))  # as for any user but root
    assert CliRunner().invoke(program, ["--socket", str(tmp_path / "theirs"), "status"]).exit_code == 3


def test_a_stuck_daemon_exits_3(run: Run, desk: FakeDesk) -> None:
    desk.stuck = True
    result = run("--timeout", "0.2", "status")
    assert result.exit_code == 3
    assert "did not answer within 0.2 s" in result.stderr


def test_act_shows_the_rehearsals_and_asks(run: Run, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.ctl.mode.has_terminal", lambda: True)
    refused = run("mode", "act", "--policy", "thermal", typed="n\n")
    assert refused.exit_code == 1
    assert "In the last 7 days thermal would have done 1 thing (records begin " in refused.stderr
    assert "card.isolate  n0/card3  its link corrupts data" in refused.stderr
    assert not desk.changes
    accepted = run("mode", "act", "--policy", "thermal", typed="y\n")
    assert accepted.exit_code == 0
    assert "thermal is in mode act, was observe." in accepted.stdout
    assert [mode for _, mode, _ in desk.changes] == [Mode.ACT]


def test_act_without_anybody_to_ask_needs_yes(run: Run, desk: FakeDesk) -> None:
    result = run("mode", "act", "--policy", "thermal", typed="y\n")
    assert result.exit_code == 2
    assert "say --yes" in result.stderr
    assert not desk.changes
    told = run("-o", "json", "mode", "act", "--policy", "thermal", "--yes")
    assert msgspec.json.decode(told.stdout, type=ModeChanged).after is Mode.ACT
    assert "would have done" in told.stderr


def test_act_of_an_unknown_policy_never_asks(run: Run) -> None:
    result = run("mode", "act", "--policy", "nope", "--yes")
    assert result.exit_code == 1
    assert "there is no policy 'nope'" in result.stderr


@pytest.mark.parametrize(
    ("shell", "golden"), [("bash", "complete -o nosort -F"), ("zsh", "#compdef supernodectl"), ("fish", "complete --no-files")]
)
def test_completion_scripts(shell: str, golden: str) -> None:
    result = CliRunner().invoke(program, ["completion", shell])
    assert result.exit_code == 0
    assert golden in result.stdout
    assert "_SUPERNODECTL_COMPLETE" in result.stdout


def complete(path: Path, line: str) -> str:
    env = {
        "_SUPERNODECTL_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
        "SUPERNODED_SOCKET": str(path),
    }
    return CliRunner().invoke(program, [], env=env, prog_name="supernodectl").stdout


def test_completion_knows_verbs_and_the_daemons_policies(run: Run, tmp_path: Path) -> None:
    assert "plain,incidents" in complete(tmp_path / "s", "supernodectl inc")
    assert "plain,upgrade" in complete(tmp_path / "s", "supernodectl db up")
    assert "plain,thermal" in complete(tmp_path / "s", "supernodectl mode act --policy th")
    assert complete(tmp_path / "absent", "supernodectl mode act --policy th").strip() == ""


def test_every_verb_has_help_and_the_common_options(run: Run) -> None:
    offline = {"replay"}  # asks no daemon, and prints lines of JSON only
    for name, verb in program.commands.items():
        if name in offline:
            continue
        text = run(name, "--help").stdout
        assert "--socket" in text, name
        assert "--output" in text, name
        assert isinstance(verb, click.Command)
        assert verb.get_short_help_str(), name


def test_nothing_slow_is_imported_at_the_start() -> None:
    assert not {"aiohttp", "sqlalchemy", "pluggy", "asyncio"} & imported_by("import supernoded.ctl.main")


def imported_by(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60).stdout.split())
