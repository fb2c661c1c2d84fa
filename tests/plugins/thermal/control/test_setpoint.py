from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from supernoded_thermal.control.setpoint import SetpointLoop
from supernoded_thermal.control.settings import ControlSettings
from tests.plugins.thermal.control.looking import CDU, see

LOOP = SetpointLoop(CDU, (CDU,), ControlSettings())


def ask(**changes: Any) -> Any:
    return LOOP.steer(see(**changes), LOOP.start(None))[1]


def test_it_says_the_setpoint_with_a_good_reading() -> None:
    setpoint = ask()
    assert (setpoint.target, setpoint.quantity, setpoint.value, setpoint.note) == ("cdu/0/setpoint", "coolant.setpoint", 22.0, "")


def test_never_below_the_dew_point_and_its_margin() -> None:
    assert ask(air__dew_point=21.33).value == 23.4
    assert ask(air__dew_point=21.33).note == "at 23.3 C, not at 22: the room's dew point allows no less"
    assert ask(**{"air.dew_point": 20.5, "coolant.supply_temperature.2": 21.0}).value == 22.5 + 1.5  # the colder one is guarded


def test_without_a_thermometer_there_is_no_heartbeat() -> None:
    assert ask(coolant__supply_temperature=None, coolant__return_temperature=None) is None
    assert "return alone" in ask(coolant__supply_temperature=None).note
    assert ask(coolant__supply_temperature=None).value == 22.0


def test_by_hand_the_floor_stands() -> None:
    _, setpoint = LOOP.hold(see(air__dew_point=19.0), LOOP.start(None), 15.0)
    assert setpoint is not None
    assert setpoint.value == 21.0


@given(st.one_of(st.none(), st.floats(-40.0, 40.0)), st.floats(5.0, 45.0), st.floats(-5.0, 60.0))
def test_whatever_is_read_it_is_at_the_floor_or_above(dew_point: float | None, supply: float, wanted: float) -> None:
    memory, setpoint = LOOP.hold(see(air__dew_point=dew_point, coolant__supply_temperature=supply), LOOP.start(None), wanted)
    assert setpoint is not None
    assert memory.floor is not None
    assert setpoint.value >= memory.floor.celsius - 1e-6
