from collections.abc import Callable

import pytest

from supernoded_thermal.control.learning import Log, has_passed, learn_transport, note_heat
from supernoded_thermal.control.tracking import Transmitter
from supernoded_thermal.control.transport import Transport, find_arriving, find_shown, take_power

BY = Transmitter(lag=2.0, step=0.1)


def send(transport: Transport, watts: Callable[[int], float], seconds: int, slower: float = 1.0) -> Transport:
    for at in range(seconds):
        transport = take_power(transport, float(at), watts(at), slower, BY.lag)
    return transport


def step(at: int) -> float:
    return 1000.0 if at < 10 else 2000.0


def test_heat_arrives_late_and_smoothed() -> None:
    transport = send(Transport(20.0, 12.0), step, 100)
    assert find_arriving(transport, 29.0, 1.0) == pytest.approx(1000.0)
    assert find_arriving(transport, 30.0 + 12.0, 1.0) == pytest.approx(1640.0, abs=40.0)
    assert find_arriving(transport, 99.0, 1.0) == pytest.approx(2000.0, abs=10.0)
    assert 1000.0 < find_shown(transport, 34.0, 1.0) < find_arriving(transport, 34.0, 1.0)


def test_with_half_the_flow_it_takes_twice_as_long() -> None:
    transport = send(Transport(20.0, 12.0), step, 100, slower=2.0)
    assert find_arriving(transport, 49.0, 2.0) == pytest.approx(1000.0)
    assert find_arriving(transport, 60.0, 2.0) > 1300.0


def test_only_what_is_under_way_is_kept() -> None:
    assert len(send(Transport(20.0, 12.0), step, 2000).sent) < 410


def came(delay: float, lag: float, gain: float, seconds: int) -> Log:
    true = send(Transport(delay, lag), step, seconds)
    return tuple((float(at), float(step(at)), gain * find_shown(true, at, 1.0)) for at in range(seconds))


@pytest.mark.parametrize(("delay", "lag", "gain"), [(16.0, 12.0, 1.0), (24.0, 9.0, 0.85), (30.0, 16.0, 1.15)])
def test_delay_lag_and_gain_are_learned_from_a_front(delay: float, lag: float, gain: float) -> None:
    learned = learn_transport(came(delay, lag, gain, 150), Transport(20.0, 12.0), 1.0, BY)
    assert learned.delay == pytest.approx(delay, abs=2.0)
    assert learned.lag == pytest.approx(lag, rel=0.3)
    assert learned.gain == pytest.approx(gain, rel=0.05)


def test_what_nothing_explains_teaches_nothing() -> None:
    before = Transport(20.0, 12.0)
    noise = tuple((float(at), float(step(at)), 1000.0 + 400.0 * (at * 7919 % 13 - 6)) for at in range(150))
    assert learn_transport(noise, before, 1.0, BY) is before


def test_a_front_counts_once_it_is_wholly_behind() -> None:
    log = came(20.0, 12.0, 1.0, 200)
    assert not has_passed(log[:60], Transport(20.0, 12.0), 1.0)  # mid-front
    assert has_passed(log[:130], Transport(20.0, 12.0), 1.0)
    assert not has_passed(log[100:], Transport(20.0, 12.0), 1.0)  # no excitation


def test_a_gap_starts_the_log_anew() -> None:
    log = note_heat(note_heat((), 0.0, 1.0, 1.0), 1.0, 1.0, 1.0)
    assert len(note_heat(log, 2.0, 1.0, 1.0)) == 3
    assert len(note_heat(log, 9.0, 1.0, 1.0)) == 1
    assert note_heat(log, 1.2, 1.0, 1.0) is log


def test_racks_beside_the_exchanger_have_no_delay_that_is_less_than_none() -> None:
    learned = learn_transport(came(0.0, 12.0, 1.0, 150), Transport(1.0, 12.0), 1.0, BY)
    assert 0.0 <= learned.delay <= 3.0
