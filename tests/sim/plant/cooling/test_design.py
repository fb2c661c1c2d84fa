import pytest

from sim_hardware.plant.cooling import list_designs, load_design
from sim_hardware.plant.cooling.design import read_design, scale_design
from sim_hardware.plant.words import PlantError

_LEAST = """
text = "least"
watts = 1e6
exchanger = {watts_per_kelvin = 2e5, lag_s = 4.0}
primary = {celsius = 15.0, litres_per_second = 40.0}
valve = {stroke_s = 15.0}
"""


def test_there_are_the_reference_and_more_than_five_others() -> None:
    assert list_designs()[0] == "reference"
    assert len(list_designs()) >= 6


def test_the_reference_is_the_one_that_controllers_are_measured_on() -> None:
    design = load_design("reference")
    assert (design.watts, design.pumping.litres_per_second, design.piping.return_s) == (2e6, 48.0, 20.0)
    assert (design.plates.lag_s, design.exchanger.lag_s, design.gauge.lag_s, design.valve.stroke_s) == (12.0, 6.0, 2.0, 15.0)
    assert (design.plc.period_s, design.plc.gain, design.plc.rate) == (1.0, 0.08, 0.008)


def test_the_others_vary_everything_that_a_controller_could_trip_over() -> None:
    designs = [load_design(name) for name in list_designs()]
    assert {2.0, 4.0, 6.0} <= {design.exchanger.lag_s for design in designs}
    assert {15.0, 30.0, 60.0} <= {design.valve.stroke_s for design in designs}
    assert {"linear", "equal-percentage"} == {design.valve.curve for design in designs}
    assert {"last", "first"} == {design.plc.arbitration for design in designs}
    for vary in (
        lambda design: design.valve.backlash_percent,
        lambda design: design.piping.supply_s,
        lambda design: len(design.piping.rows),
        lambda design: design.gauge.step_kelvin,
        lambda design: design.gauge.refresh_s,
        lambda design: design.exchanger.fouling,
        lambda design: design.primary.swing_kelvin,
        lambda design: design.primary.swing_kilopascals,
        lambda design: design.plates.air_share,
        lambda design: design.plc.gain,
        lambda design: design.pumping.check_valves,
    ):
        assert len({vary(design) for design in designs}) > 1


def test_flows_scale_and_times_do_not() -> None:
    small = scale_design(load_design("reference"), 16e3)
    assert small.watts == pytest.approx(20e3)
    assert small.pumping.litres_per_second == pytest.approx(0.48)
    assert small.exchanger.watts_per_kelvin == pytest.approx(4800.0)
    assert small.piping == load_design("reference").piping


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("colour = 3", "unknown field `colour`"),
        ("[pumping]\nduty = 2", "leave one to stand by"),
        ("[piping]\nsupply_s = 0.4", "give 0, or at least 1 s"),
        ("[piping]\nreturn_s = 0.2", "return_s"),
        ("watts", "least"),
    ],
)
def test_a_plant_with_a_fault_is_refused_by_name(more: str, says: str) -> None:
    with pytest.raises(PlantError, match="cooling plant least: ") as error:
        read_design((_LEAST + more).encode(), "least")
    assert says in str(error.value)


def test_a_least_plant_will_do() -> None:
    assert read_design(_LEAST.encode(), "least").plc.watchdog_s == 15.0


def test_a_name_that_is_not_there_gets_those_that_are() -> None:
    with pytest.raises(PlantError, match="referense: no cooling plant of this name; there are reference, brisk"):
        load_design("referense")
