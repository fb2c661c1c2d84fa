"""What the server says to each request."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.nut import Account, Dialect, Session, Unit
from sim_hardware.plant.power.orders import SetUpsMode, StartTest, StopTest
from sim_hardware.plant.words import Order, OrderError, Value
from tests.sim.devices.nut.values import GOOD, panel
from tests.sim.devices.panels import FakePanel

PROVEN = ("USERNAME admin", "PASSWORD simulated")


def unit(**changed: Value) -> Unit:
    return Unit(panel(**changed), "A")


def ask(session: Session, *lines: str) -> str:
    """The answer to the last of the lines."""
    answer = b""
    for line in lines:
        answer = session.answer(line.encode())
    return answer.decode().removesuffix("\n")


def orders(of: Unit) -> list[Order]:
    plant = of.panel
    assert isinstance(plant, FakePanel)
    return plant.orders


def proven(of: Unit) -> Session:
    session = Session(of)
    assert [ask(session, line) for line in PROVEN] == ["OK", "OK"]
    return session


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("VER", "Network UPS Tools upsd 2.8.0 - simulated"),
        ("NETVER", "1.3"),
        ("netver", "1.3"),
        ("HELP", "Commands: HELP VER GET LIST SET INSTCMD LOGIN LOGOUT USERNAME PASSWORD STARTTLS"),
        ("LIST UPS", 'BEGIN LIST UPS\nUPS ups-a "Simulated UPS of feed A"\nEND LIST UPS'),
        ("GET VAR ups-a ups.status", 'VAR ups-a ups.status "OL CHRG"'),
        ("GET VAR UPS-A battery.charge", 'VAR UPS-A battery.charge "100"'),
        ('GET VAR "ups-a" input.L1-N.voltage\r', 'VAR ups-a input.L1-N.voltage "229.9"'),
        ("GET VAR ups-a ups.model", 'VAR ups-a ups.model "Model \\"X\\" \\\\ 3"'),
        ("GET VAR ups-a server.version", 'VAR ups-a server.version "2.8.0"'),
        ("GET VAR ups-a ups.realpower.nominal", 'VAR ups-a ups.realpower.nominal "18000"'),
        ("GET VAR ups-a ups.test.result", 'VAR ups-a ups.test.result "No test initiated"'),
        ("GET TYPE ups-a ups.load", "TYPE ups-a ups.load NUMBER"),
        ("GET TYPE ups-a ups.serial", "TYPE ups-a ups.serial STRING:32"),
        ("GET TYPE ups-a ups.delay.start", "TYPE ups-a ups.delay.start RW RANGE NUMBER"),
        ("GET TYPE ups-a ups.id", "TYPE ups-a ups.id RW STRING:32"),
        ("GET DESC ups-a ups.status", 'DESC ups-a ups.status "Status flags"'),
        ("GET DESC ups-a no.such", 'DESC ups-a no.such "Description unavailable"'),
        ("GET CMDDESC ups-a load.off", 'CMDDESC ups-a load.off "Switch the output off now"'),
        ("GET UPSDESC ups-a", 'UPSDESC ups-a "Simulated UPS of feed A"'),
        ("GET NUMLOGINS ups-a", "NUMLOGINS ups-a 0"),
        ("GET TRACKING", "OFF"),
        ("GET TRACKING 1", "ERR FEATURE-NOT-CONFIGURED"),
        ("LIST CLIENT ups-a", "BEGIN LIST CLIENT ups-a\nEND LIST CLIENT ups-a"),
        ("LIST RANGE ups-a ups.load", "BEGIN LIST RANGE ups-a ups.load\nEND LIST RANGE ups-a ups.load"),
        (
            "LIST RANGE ups-a battery.charge.low",
            'BEGIN LIST RANGE ups-a battery.charge.low\nRANGE ups-a battery.charge.low "0" "90"\nEND LIST RANGE ups-a battery.charge.low',
        ),
        ("GET VAR ups-b ups.status", "ERR UNKNOWN-UPS"),
        ("GET VAR ups-a no.such", "ERR VAR-NOT-SUPPORTED"),
        ("GET VAR ups-a server.such", "ERR VAR-NOT-SUPPORTED"),
        ("LIST ENUM ups-a no.such", "ERR VAR-NOT-SUPPORTED"),
        ("GET", "ERR INVALID-ARGUMENT"),
        ("GET WHAT ups-a x", "ERR INVALID-ARGUMENT"),
        ("LIST", "ERR INVALID-ARGUMENT"),
        ("LIST VAR", "ERR INVALID-ARGUMENT"),
        ("", "ERR UNKNOWN-COMMAND"),
        ("REQ ups.status", "ERR UNKNOWN-COMMAND"),
        ('GET VAR "ups-a', "ERR UNKNOWN-COMMAND"),
        ("STARTTLS", "ERR FEATURE-NOT-CONFIGURED"),
        ("SET VAR ups-a ups.id x", "ERR USERNAME-REQUIRED"),
        ("INSTCMD ups-a load.off", "ERR USERNAME-REQUIRED"),
        ("LOGIN ups-a", "ERR USERNAME-REQUIRED"),
        ("USERNAME", "ERR INVALID-ARGUMENT"),
        ('PASSWORD ""', "ERR INVALID-PASSWORD"),
        ("LOGOUT", "OK Goodbye"),
    ],
)
def test_what_anybody_may_ask(line: str, answer: str) -> None:
    assert ask(Session(unit()), line) == answer


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("USERNAME other", "ERR ALREADY-SET-USERNAME"),
        ("PASSWORD other", "ERR ALREADY-SET-PASSWORD"),
        ("PRIMARY ups-a", "OK PRIMARY-GRANTED"),
        ("MASTER ups-a", "OK MASTER-GRANTED"),
        ("PRIMARY ups-b", "ERR UNKNOWN-UPS"),
        ("SET VAR ups-a ups.id", "ERR INVALID-ARGUMENT"),
        ("SET VAR ups-b ups.id x", "ERR UNKNOWN-UPS"),
        ("SET VAR ups-a ups.load 1", "ERR READONLY"),
        ("SET VAR ups-a no.such 1", "ERR VAR-NOT-SUPPORTED"),
        ("SET VAR ups-a ups.beeper.status loud", "ERR INVALID-VALUE"),
        ("SET VAR ups-a battery.charge.low 91", "ERR INVALID-VALUE"),
        ("SET VAR ups-a battery.charge.low x", "ERR INVALID-VALUE"),
        (f"SET VAR ups-a ups.id {'x' * 33}", "ERR TOO-LONG"),
        ("SET TRACKING MAYBE", "ERR INVALID-ARGUMENT"),
        ("INSTCMD ups-a no.such", "ERR CMD-NOT-SUPPORTED"),
        ("INSTCMD ups-a", "ERR INVALID-ARGUMENT"),
    ],
)
def test_what_is_refused_to_who_is_known(line: str, answer: str) -> None:
    assert ask(proven(unit()), line) == answer


def test_a_wrong_password_shows_when_it_is_needed() -> None:
    session = Session(unit())
    assert ask(session, "USERNAME admin") == "OK"
    assert ask(session, "SET VAR ups-a ups.id x") == "ERR PASSWORD-REQUIRED"
    assert ask(session, "PASSWORD wrong") == "OK"
    for line in ("SET VAR ups-a ups.id x", "INSTCMD ups-a load.off", "LOGIN ups-a", "FSD ups-a", "PRIMARY ups-a"):
        assert ask(session, line) == "ERR ACCESS-DENIED"
    assert orders(session.unit) == []
    own = Session(Unit(panel(), "A", account=Account("me", "secret")))
    assert ask(own, "USERNAME me", "PASSWORD secret", "PRIMARY ups-a") == "OK PRIMARY-GRANTED"


def test_a_setting_is_kept_for_all_clients() -> None:
    session = proven(unit())
    assert ask(session, 'SET VAR ups-a ups.id "row 3 \\"left\\""') == "OK"
    other = Session(session.unit)
    assert ask(other, "GET VAR ups-a ups.id") == 'VAR ups-a ups.id "row 3 \\"left\\""'
    assert 'RW ups-a ups.id "row 3' in ask(other, "LIST RW ups-a")
    assert ask(other, "LIST ENUM ups-a ups.beeper.status").count("\n") == 4


def test_logins_are_counted_until_the_connection_ends() -> None:
    ups = unit()
    first, second = proven(ups), proven(ups)
    second.host = "10.0.0.2"
    assert ask(first, "LOGIN ups-a") == "OK"
    assert ask(first, "LOGIN ups-a") == "ERR ALREADY-LOGGED-IN"
    assert ask(second, "LOGIN ups-a") == "OK"
    assert ask(first, "LIST CLIENT ups-a").splitlines()[1:-1] == ["CLIENT ups-a 10.0.0.2", "CLIENT ups-a 127.0.0.1"]
    second.end()
    assert ask(first, "GET NUMLOGINS ups-a") == "NUMLOGINS ups-a 1"
    assert ask(first, "LOGOUT") == "OK Goodbye"
    assert (first.over, ups.logins) == (True, [])


def test_forced_shutdown_is_a_latch() -> None:
    session = proven(unit())
    assert ask(session, "FSD ups-a") == "OK FSD-SET"
    assert ask(Session(session.unit), "GET VAR ups-a ups.status") == 'VAR ups-a ups.status "FSD OL CHRG"'


@pytest.mark.parametrize(
    ("command", "order"),
    [
        ("test.battery.start.quick", StartTest(ups="A", kind="selftest")),
        ("test.battery.start.deep", StartTest(ups="A", kind="calibration")),
        ("test.battery.stop", StopTest(ups="A")),
        ("calibrate.start", StartTest(ups="A", kind="calibration")),
        ("calibrate.stop", StopTest(ups="A")),
        ("bypass.start", SetUpsMode(ups="A", mode="bypass")),
        ("bypass.stop", SetUpsMode(ups="A", mode="normal")),
        ("load.off", SetUpsMode(ups="A", mode="off")),
        ("load.on", SetUpsMode(ups="A", mode="normal")),
    ],
)
def test_commands_become_orders(command: str, order: Order) -> None:
    session = proven(unit())
    assert ask(session, f"INSTCMD ups-a {command}") == "OK"
    assert orders(session.unit) == [order]


def test_shutdown_with_return_waits_for_the_mains() -> None:
    session = proven(unit(input_voltage=0.0))
    ups, plant = session.unit, session.unit.panel
    assert isinstance(plant, FakePanel)
    assert ask(session, "SET VAR ups-a ups.delay.shutdown 5", "INSTCMD ups-a shutdown.return") == "OK"
    assert ask(session, "GET VAR ups-a ups.timer.shutdown") == 'VAR ups-a ups.timer.shutdown "5"'
    assert ups.shutdown.due == 5.0
    plant.time = 5.0
    ups.shutdown.run()
    assert plant.orders == [SetUpsMode(ups="A", mode="off")]
    plant.time = 100.0
    ups.shutdown.run()
    plant.values["ups/A", "ups.input_voltage"] = 230.0
    plant.time = 101.0
    ups.shutdown.run()
    assert ups.shutdown.due == 131.0
    plant.time = 131.0
    ups.shutdown.run()
    assert plant.orders[1:] == [SetUpsMode(ups="A", mode="normal")]
    assert ups.shutdown.due == math.inf


def test_a_shutdown_is_stopped_and_staying_off_is_for_good() -> None:
    session = proven(unit())
    assert ask(session, "INSTCMD ups-a shutdown.return", "INSTCMD ups-a shutdown.stop") == "OK"
    assert session.unit.shutdown.due == math.inf
    assert ask(session, "INSTCMD ups-a load.off.delay 0") == "OK"
    assert (orders(session.unit), session.unit.shutdown.due) == ([SetUpsMode(ups="A", mode="off")], math.inf)


class Refusing(FakePanel):
    def order(self, order: Order) -> None:
        raise OrderError("the charger is broken")


def test_tracking_tells_what_ok_does_not() -> None:
    good, plant = proven(unit()), Refusing(values=panel().values)
    assert ask(good, "SET TRACKING ON", "GET TRACKING") == "ON"
    bad = proven(Unit(plant, "A"))
    assert ask(bad, "INSTCMD ups-a calibrate.start") == "OK"
    for session, command, result in (
        (good, "test.battery.start", "SUCCESS"),
        (good, "load.off.delay soon", "ERR INVALID-ARGUMENT"),
        (bad, "test.battery.start", "ERR FAILED"),
    ):
        said = ask(session, "SET TRACKING ON", f"INSTCMD ups-a {command}")
        number = said.removeprefix("OK TRACKING ")
        assert number != said
        assert ask(session, f"GET TRACKING {number}") == "PENDING"
        fake = session.unit.panel
        assert isinstance(fake, FakePanel)
        fake.time += 0.2
        assert ask(session, f"GET TRACKING {number}") == result
    assert ask(good, "GET TRACKING 1-2-3") == "ERR UNKNOWN"


def test_stale_and_unconnected_units_show_nothing() -> None:
    session = proven(unit())
    for set_up, answer in (("stale", "ERR DATA-STALE"), ("unconnected", "ERR DRIVER-NOT-CONNECTED")):
        session.unit.impairment.stale = set_up == "stale"
        session.unit.connected = set_up != "unconnected"
        for line in ("LIST VAR ups-a", "GET VAR ups-a ups.status", "INSTCMD ups-a load.off", "SET VAR ups-a ups.id x"):
            assert ask(session, line) == answer
        assert ask(session, "LIST UPS").startswith("BEGIN")
    assert orders(session.unit) == []


def test_who_has_lost_the_data_can_still_log_in_and_force_the_shutdown() -> None:
    session = proven(unit())
    session.unit.impairment.stale = True
    assert (ask(session, "LOGIN ups-a"), ask(session, "FSD ups-a"), session.unit.fsd) == ("OK", "OK FSD-SET", True)


def test_orders_that_are_acknowledged_and_not_done() -> None:
    session = proven(unit())
    session.unit.impairment.idle_orders = True
    for line in ("INSTCMD ups-a load.off", "SET VAR ups-a ups.id x", "FSD ups-a"):
        assert ask(session, line).startswith("OK")
    assert (orders(session.unit), session.unit.settings["ups.id"], session.unit.fsd) == ([], "", False)


@pytest.mark.parametrize(("dialect", "shown"), [("absent", None), ("minus-one", "-1"), ("zero", "0")])
@pytest.mark.parametrize("bad", [None, math.nan, math.inf])
def test_what_is_unknown_is_shown_in_the_dialect_of_the_driver(dialect: Dialect, shown: str | None, bad: Value) -> None:
    variables = Unit(panel(charge=bad), "A", dialect=dialect).list_variables()
    assert (variables.get("battery.charge"), variables["battery.runtime"]) == (shown, "1234")


def test_what_is_beyond_reason_is_passed_on() -> None:
    variables = unit(load=562020.0, battery_temperature=1e300, charge=-197.6, runtime="N/A", input_voltage=-0.01).list_variables()
    shown = [variables[name] for name in ("ups.load", "battery.temperature", "battery.charge", "battery.runtime", "input.voltage")]
    assert shown == ["562020", "4294967295.0", "-198", "N/A", "0.0"]


def test_a_text_never_breaks_its_line() -> None:
    assert ask(Session(unit(serial="a\r\nOK\x00")), "GET VAR ups-a ups.serial") == 'VAR ups-a ups.serial "a  OK "'


def test_flags_stand_in_the_order_of_the_drivers() -> None:
    flags = frozenset({"LB", "RB", "DISCHRG", "OB", "ALARM", "ODD"})
    variables = unit(status=flags).list_variables()
    assert variables["ups.status"] == "ALARM OB DISCHRG LB RB ODD"
    assert variables["ups.alarm"] == "Replace the battery! Battery is low!"
    assert "ups.status" not in unit(status=None).list_variables()
    assert Unit(panel(status=None), "A", dialect="zero").list_variables()["ups.status"] == ""


VALUES = st.none() | st.floats() | st.text(max_size=40) | st.frozensets(st.text(max_size=4), max_size=3)
LINES = st.binary(max_size=200) | st.builds(
    b" ".join,
    st.lists(
        st.sampled_from(
            [b"GET", b"LIST", b"SET", b"VAR", b"TYPE", b"ENUM", b"ups-a", b"ups.load", b"ups.id", b"INSTCMD", b"FSD", b"TRACKING"]
        )
        | st.binary(max_size=8),
        max_size=6,
    ),
)


@given(st.lists(LINES, max_size=8), st.booleans())
def test_any_line_has_one_answer(lines: list[bytes], known: bool) -> None:
    session = proven(unit()) if known else Session(unit())
    for line in b"\n".join(lines).split(b"\n"):
        answer = session.answer(line).decode()
        assert answer.endswith("\n")
        head = answer.split(" ", 2)[0].rstrip("\n")
        assert answer.count("\n") == 1 or (head == "BEGIN" and answer.splitlines()[-1].startswith("END LIST "))
        assert head in {
            "OK",
            "ERR",
            "BEGIN",
            "VAR",
            "TYPE",
            "DESC",
            "UPSDESC",
            "CMDDESC",
            "NUMLOGINS",
            "ON",
            "OFF",
            "Commands:",
            "Network",
            "1.3",
        }


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), VALUES), st.sampled_from(["absent", "minus-one", "zero"]))
def test_any_value_leaves_the_list_whole(values: dict[str, Value], dialect: Dialect) -> None:
    plant = FakePanel(values={("ups/A", quantity): value for quantity, value in values.items()})
    answer = Session(Unit(plant, "A", dialect=dialect)).answer(b"LIST VAR ups-a").decode()
    lines = answer.removesuffix("\n").split("\n")
    assert (lines[0], lines[-1]) == ("BEGIN LIST VAR ups-a", "END LIST VAR ups-a")
    assert len(lines) > 10
    for line in lines[1:-1]:
        assert line.startswith("VAR ups-a ")
        assert line.endswith('"')
