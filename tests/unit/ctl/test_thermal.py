"""`supernodectl thermal` and the verbs below it, against the real server; what it says, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner, Result

from supernoded.admin.access import Access
from supernoded.ctl.main import program
from supernoded.ctl.printing import Table
from supernoded.ctl.thermal_wording import render_thermal
from supernoded.messages import Handed, HandOrder, Thermal, ThermalHistory, ThermalHistoryFilter
from supernoded.model import Level, Verdict
from tests.unit.admin.fake_desk import FakeDesk, serving
from tests.unit.admin.fake_heat import FANS, HISTORY, THERMAL, UNIT
from tests.unit.ctl.test_printing import look

Run = Callable[..., Result]


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def run(tmp_path: Path, desk: FakeDesk) -> Iterator[Run]:
    def call(*arguments: str, **environment: str) -> Result:
        env = {"SUPERNODED_SOCKET": str(tmp_path / "s"), **environment}
        return CliRunner().invoke(program, arguments, env=env, prog_name="supernodectl")

    with serving(tmp_path / "s", desk):
        yield call


def test_what_is_worst_comes_first_then_units_margins_loops_and_cards(run: Run) -> None:
    result = run("thermal")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout  # not a terminal
    lines = result.stdout.splitlines()
    assert lines[0] == "warning: cdu/0 supplies 22.36 C, 0.36 K above its setpoint of 22 C, allowed is 0.3 K"
    for start in (
        "cdu/0  22.36 C  22.00 C   34.50 C  812 L/min  41.0 %  14.00 C  120 kPa   1: running 72 %, 2: off  81 %   dry (was wet)",
        "cdu/0  0.06 K outside  7.8 K above  59 %        warning  direct     direct, 14 s of 15 s left  cdu/0 supplies",
        "cdu/0/valve  41.5 %  0.5 s ago  alice by hand, 5 min left  held at 41.5 %; the strainer is cleaned; by energy balance",
        "n0/fans      -       -          nobody of us               the policy no longer acts",
        "n0    61 93!   ?  74  hottest 93.4 C in card1, fans 40 %, from 5200 rpm, 1 of 2 unknown (auto), 31.2 L/min",
        "n1     ?   ?   ?   ?  nothing is read of it here",
    ):
        assert [line for line in lines if line.startswith(start)], start
    assert "pdu/A1" not in result.stdout  # an armed PDU is another sheet


def test_watts_are_drawn_on_request(run: Run) -> None:
    assert "n0    590 410!  600    ?  hottest" in run("thermal", "--watts").stdout


def test_programs_get_the_message_as_it_came(run: Run) -> None:
    assert msgspec.json.decode(run("-o", "json", "thermal").stdout, type=Thermal) == THERMAL
    assert msgspec.json.decode(run("thermal", "history", "cdu/0", "-o", "json").stdout, type=ThermalHistory) == HISTORY


def say(level: Level, text: str = "it is") -> Verdict:
    return Verdict(kind="coolant.band", subject="cdu/0", level=level, text=text, at=1.0)


@pytest.mark.parametrize(
    ("verdicts", "first"),
    [
        ((), "No rule of this daemon judges coolant or heat; node n0 has the role cdu/0."),
        ((say(Level.CLEAR),), "All is well with coolant and heat; cdu/0 supplies 22.36 C where 22.00 C is asked for."),
        (
            (say(Level.UNSURE, "no supply is read"),),
            "No trouble of coolant or heat is told; 1 verdict cannot be given now: no supply is read.",
        ),
        (tuple(say(Level.RAISED, f"t{i}") for i in range(9)), "warning: t0"),
    ],
)
def test_the_first_sentence_says_what_is_well_or_worst(verdicts: tuple[Verdict, ...], first: str) -> None:
    sheet = render_thermal(msgspec.structs.replace(THERMAL, verdicts=verdicts))
    assert sheet[0] == first
    assert ("... and 3 verdicts more: supernodectl incidents" in sheet) is (len(verdicts) == 9)


def find_row(sheet_of: Thermal, first_column: str) -> dict[str, str]:
    table = next(part for part in render_thermal(sheet_of) if isinstance(part, Table) and first_column in part.columns)
    return dict(zip(table.columns, table.rows[0], strict=True))


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    blind = msgspec.structs.replace(
        UNIT, supply=None, setpoint=None, flow=None, valve=None, valve_command=60.0, leak=None, band_margin=None, dew_margin=-0.4
    )
    told = msgspec.structs.replace(THERMAL, units=(blind,), loops=(FANS,))
    assert {find_row(told, "SUPPLY")[column] for column in ("SUPPLY", "SETPOINT", "FLOW")} == {"unknown"}
    assert find_row(told, "SUPPLY")["LEAK"] == "unknown (was wet)"
    assert find_row(told, "SUPPLY")["VALVE"] == "unknown, told 60.0 %"
    assert (find_row(told, "BAND")["BAND"], find_row(told, "BAND")["DEW LIMIT"]) == ("unknown", "0.4 K too cold")


def test_a_hand_is_laid_on_for_a_while_with_a_reason(run: Run, desk: FakeDesk) -> None:
    result = run("thermal", "hold", "cdu/0/valve", "40", "--for", "10m", "--reason", "the strainer is cleaned")
    assert result.exit_code == 0
    assert result.stdout.startswith("cdu/0/valve is held at 40 %, it stood at 35 %; then its loop thermal.valve goes on from there")
    assert "The hand is on it until " in result.stdout
    assert "(in 10 min)." in result.stdout
    assert desk.hands == [("cdu/0/valve", HandOrder(value=40.0, seconds=600.0, reason="the strainer is cleaned"))]
    record = desk.recorded[0]
    assert (record.verb, record.accepted) == ("POST /v1/loops/cdu/0/valve", True)
    assert "the strainer is cleaned" in record.detail


def test_and_taken_off_again(run: Run, desk: FakeDesk) -> None:
    result = run("thermal", "release", "cdu/0/valve", "-o", "json")
    assert msgspec.json.decode(result.stdout, type=Handed).before == 40.0
    assert desk.hands == [("cdu/0/valve", None)]
    assert [record.verb for record in desk.recorded] == ["DELETE /v1/loops/cdu/0/valve"]


def test_an_unknown_target_is_a_no_with_a_suggestion(run: Run, desk: FakeDesk) -> None:
    result = run("thermal", "hold", "cdu/0/valv", "40", "--for", "60")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "did you mean cdu/0/valve?" in result.stderr
    assert [record.accepted for record in desk.recorded] == [False]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--for", "2h"], "2h is too short or too long: above 0 s and at most 1 h can be asked for"),
        (["--for", "soon"], "'soon' is no duration; write seconds, or numbers with"),
        (["--for", "0"], "0 is too short or too long"),
        ([], "Missing option '--for'"),
    ],
)
def test_without_a_bounded_time_nothing_is_held(run: Run, desk: FakeDesk, wrong: list[str], said: str) -> None:
    result = run("thermal", "hold", "cdu/0/valve", "40", *wrong)
    assert (result.exit_code, desk.hands) == (2, [])
    assert said in result.stderr


@pytest.mark.parametrize(
    "body",
    [b"{}", b'{"value":40,"seconds":3601}', b'{"value":40,"seconds":0}', b'{"value":40,"seconds":60,"x":1}', b'{"value":"a","seconds":1}'],
)
def test_the_daemon_bounds_it_too(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(body, type=HandOrder)


def test_who_is_no_operator_looks_and_holds_nothing(tmp_path: Path, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.admin.access.ROOT", -1)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)  # the daemon's own user is another
    with serving(tmp_path / "s", desk, access=Access()):
        result = CliRunner().invoke(
            program, ["thermal", "release", "cdu/0/valve"], env={"SUPERNODED_SOCKET": str(tmp_path / "s")}, prog_name="supernodectl"
        )
    assert (result.exit_code, desk.hands) == (1, [])
    assert "may not change anything on this daemon" in result.stderr
    assert [record.accepted for record in desk.recorded] == [False]


def test_the_last_minutes_are_drawn(run: Run, desk: FakeDesk) -> None:
    result = run("thermal", "history", "cdu/0", "--last", "5m")
    lines = result.stdout.splitlines()
    assert lines[0] == "cdu/0, the last 10 min."  # as the answer says
    assert lines[3] == "supply  23.00 C  22.00  23.00  " + "▁" * 30 + "█" * 30
    assert lines[4].startswith("valve   unknown  41.00  41.00  ▅ ")
    assert lines[4].endswith(" ?")
    assert desk.asked == [ThermalHistoryFilter(loop="cdu/0", seconds=300.0)]


def test_of_a_unit_that_nobody_reads_there_is_nothing_to_draw(run: Run) -> None:
    result = run("thermal", "history", "cdu/9")
    assert result.exit_code == 1
    assert "nothing was read of a coolant unit 'cdu/9' here; `supernodectl thermal` lists the units" in result.stderr


@pytest.mark.parametrize(
    ("words", "typed", "found"),
    [("supernodectl thermal hold ", "cdu", ["cdu/0/valve"]), ("supernodectl thermal history ", "", ["cdu/0"])],
)
def test_targets_and_units_are_completed(run: Run, words: str, typed: str, found: list[str]) -> None:
    result = run(_SUPERNODECTL_COMPLETE="bash_complete", COMP_WORDS=words + typed, COMP_CWORD="3")
    assert [line.rpartition(",")[2] for line in result.stdout.splitlines()] == found


def test_on_a_terminal_there_are_colours_and_it_stays_within_its_width(run: Run, tmp_path: Path) -> None:
    lines = look(tmp_path / "s", 60, "thermal")
    hot = next(line for line in lines if "93!" in line)
    assert "\x1b[1;31m93!" in hot
    assert "\x1b[35m?" in hot
    plain = [click.unstyle(line).rstrip() for line in lines]
    assert "n0    61 93!   ?  74" in plain
    assert max(map(len, plain)) <= 60
    assert not [line for line in look(tmp_path / "s", 60, "thermal", NO_COLOR="1") if "\x1b[35m" in line]


def test_a_loop_whose_values_do_not_arrive_turns_nothing() -> None:
    loops = tuple(msgspec.structs.replace(loop, by_hand=False, engaged=True, put_age=29.0) for loop in THERMAL.loops)
    row = find_row(msgspec.structs.replace(THERMAL, loops=loops), "LOOP TURNS")
    assert (row["PUT"], row["WHO TURNS IT"].endswith(", in vain")) == ("29.0 s ago", True)
