from supernoded_thermal.control.floor import find_floor, find_guard, find_setpoint
from supernoded_thermal.control.settings import ControlSettings
from tests.plugins.thermal.control.looking import Site

SET = ControlSettings()
ROOMS = ("cdu/0", "n0")


def test_the_floor_is_the_highest_dew_point_and_its_margin() -> None:
    site = Site().read(0.0, air__dew_point=15.0).read(0.0, "n0", air__dew_point=18.0)
    floor = find_floor(site.view(0.0), ROOMS, None, SET)
    assert (floor.celsius, floor.note) == (20.0, "")
    assert find_setpoint(floor, 22.0) == 22.0
    assert find_setpoint(floor, 18.0) == 20.0


def test_a_sensor_that_shows_a_steam_bath_does_not_cook_the_cards() -> None:
    floor = find_floor(Site().read(0.0, air__dew_point=53.6).view(0.0), ROOMS, None, SET)
    assert floor.celsius == 30.0
    assert "53.6" in floor.note
    assert find_floor(Site().read(0.0, air__dew_point=24.0).view(0.0), ROOMS, None, SET).celsius == 26.0


def test_unknown_humidity_keeps_the_last_floor_for_ten_minutes_then_the_commissioned_one() -> None:
    site = Site().read(0.0, air__dew_point=22.0)
    floor = find_floor(site.view(0.0), ROOMS, None, SET)
    for at in range(10, 600, 10):
        floor = find_floor(site.view(float(at)), ROOMS, floor, SET)
    assert (floor.celsius, floor.note) == (24.0, "dew point unknown: by the last floor")
    floor = find_floor(site.view(601.0), ROOMS, floor, SET)
    assert (floor.celsius, "commissioned" in floor.note) == (19.0, True)
    site.read(700.0, air__dew_point=13.0)
    assert find_floor(site.view(700.0), ROOMS, floor, SET).celsius == 15.0


def test_never_known_is_the_commissioned_floor_and_nan_is_not_known() -> None:
    assert find_floor(Site().view(0.0), ROOMS, None, SET).celsius == 19.0
    assert find_floor(Site().read(0.0, air__dew_point=float("nan")).view(0.0), ROOMS, None, SET).celsius == 19.0


def test_a_sensor_below_the_floor_lifts_the_aim_by_so_much_and_no_further_than_two_kelvin() -> None:
    floor = find_floor(Site().read(0.0, air__dew_point=18.0).view(0.0), ROOMS, None, SET)
    assert find_guard(22.0, 21.0, floor, 0.5) == 0.0
    assert find_guard(22.0, 19.5, floor, 0.5) == 0.5
    assert find_guard(22.0, 5.0, floor, 0.5) == 2.0
    assert find_guard(19.5, 19.4, floor, 0.5) == 0.0  # they agree: the aim itself brings both up
    assert find_guard(None, None, floor, 0.5) == 0.0
