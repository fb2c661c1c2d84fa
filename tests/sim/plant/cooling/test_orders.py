import math

import pytest

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import orders
from sim_hardware.plant.words import Order, OrderError, PlantError, UnknownSensorError
from tests.sim.plant.cooling.cooled import load, start_site


class Foreign(Order, frozen=True):
    """Nobody's."""


@pytest.mark.parametrize(
    ("order", "says"),
    [
        (orders.SetTemperature("cdu/0", 3.0), "cdu/0: setpoint 3 C; give 5 to 45 C"),
        (orders.SetTemperature("cdu/0", math.nan), "cdu/0: setpoint nan C; give 5 to 45 C"),
        (orders.SetTemperature("cdu/7", 22.0), "cdu/7: no cdu of this name is cooled here; the first is cdu/0"),
        (orders.SetValve("cdu/0", 50.0), "cdu/0: control is auto and the PLC moves its valve; set control to direct first"),
        (orders.SetPump("cdu/0", 0, 50.0), "set control to direct first"),
        (orders.SetPressure("cdu/0", 500.0), "pressure difference 500 kPa; give 20 to 180 kPa"),
        (orders.SetWatchdog("cdu/0", 0.0), "watchdog 0 s; give 1 to 600 s"),
        (orders.FailPump("cdu/0", 2, failed=True), "cdu/0/pump2: no pump of this name"),
        (orders.StickValve("cdu/0", 101.0), "valve 101 %; give 0 to 100 %"),
        (orders.Leak("n9", 1.0), "n9: no node of this name"),
        (orders.Leak("n0", math.inf), "leak inf L/min; give 0 to 100 L/min"),
        (orders.Foul("cdu/0", 1.0), "give 0 to 0.9"),
        (orders.DrainLevel("cdu/0", -1.0), "level -1 %"),
        (orders.AdmitAir("cdu/0", 0.6), "give 0 to 0.5"),
        (orders.Humidify(90.0), "room: dew point 90 C; give -40 to 40 C"),
        (orders.AddMaster("cdu/0", 99.0), "setpoint 99 C"),
        (orders.SetFan("n0", 3, 50.0), "n0/fan3: fan control is auto; set it to manual first"),
        (orders.StopFan("n0", 8, stopped=True), "n0/fan8: no fan of this name"),
        (orders.BlockFlow("n0", 1.5), "give 0 to 1"),
        (orders.HeatSpot("n0/card8", 20.0), "n0/card8: no card of this name"),
        (orders.HeatSpot("n0/card0", 20.0, 0.0), "time constant 0 s"),
        (orders.FailDieSensor("n0/card0", 999.0), "die sensor 999 C"),
        (Foreign(), "Foreign: cooling takes no such order; it takes AddMaster, AdmitAir"),
    ],
)
def test_what_cannot_be_is_refused_with_thing_value_and_limit(order: Order, says: str) -> None:
    with pytest.raises(OrderError) as error:
        cooling.apply(start_site(), order)
    assert says in str(error.value)


def test_every_order_of_the_part_has_an_answer() -> None:
    known = {kind for kind in vars(orders).values() if isinstance(kind, type) and issubclass(kind, Order) and kind is not Order}
    with pytest.raises(OrderError) as error:
        cooling.apply(start_site(), Foreign())
    assert set(str(error.value).split("it takes ")[1].split(", ")) == {kind.__name__ for kind in known}


def test_every_sensor_that_is_listed_answers_and_no_other() -> None:
    state = start_site(nodes=2)
    state = cooling.update(state, 1.0, load(state))
    listed = list(cooling.sensors(state))
    assert len(set(listed)) == len(listed) > 2 * (8 * 4 + 8 * 3 + 12)
    for sensor in listed:
        value = cooling.sense(state, sensor.subject, sensor.quantity)
        assert isinstance(value, str) == (sensor.unit == "text")
        assert isinstance(value, str | float)
    with pytest.raises(UnknownSensorError, match=r"cdu/0 has no fan\.speed; it has coolant\.supply_temperature"):
        cooling.sense(state, "cdu/0", "fan.speed")
    with pytest.raises(UnknownSensorError, match="nothing of this name is cooled here"):
        cooling.sense(state, "ups/A", "ups.load")


def test_time_does_not_run_backwards_and_inputs_must_fit() -> None:
    state = start_site()
    state = cooling.update(state, 1.0, load(state))
    with pytest.raises(PlantError, match=r"at 1\.0 s and cannot go to 0\.5 s"):
        cooling.update(state, 0.5, load(state))
    with pytest.raises(PlantError, match="cannot go to nan s"):
        cooling.update(state, math.nan, load(state))
    with pytest.raises(PlantError, match="inputs for 16 cards and 2 nodes, and the rack has 8 and 1"):
        cooling.update(state, 2.0, load(start_site(nodes=2)))
