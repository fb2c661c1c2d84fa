"""One counter, as it is read, is what settling keeps of it; and what is remembered of processes changes no count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.links import Inputs, orders, sense
from sim_hardware.plant.links.counting import _reach, count_arrivals
from sim_hardware.plant.links.ports import BORNE as BORNE_SIZE
from sim_hardware.plant.links.ports import TIMED as TIMED_SIZE
from sim_hardware.plant.links.sensing import _find_chance
from sim_hardware.plant.links.tallying import BORNE, TIMED, count_bits, expect, settle
from sim_hardware.plant.words import Order
from tests.sim.plant.links.plants import FIRST, SECOND, build, do, run

DONE: dict[str, Order] = {
    "nothing": orders.ClearCounters(FIRST),
    "errors": orders.SetErrorRate(FIRST, 1e-9),
    "ramp": orders.SetErrorRate(FIRST, 1e-7, over_s=30.0),
    "lanes": orders.LoseLanes(FIRST, 1),
    "shut": orders.SetPort(FIRST, up=False),
}


def test_a_tally_has_room_for_every_counter() -> None:
    assert (len(TIMED), len(BORNE)) == (TIMED_SIZE, BORNE_SIZE)


@given(st.sampled_from(sorted(DONE)), st.floats(0.0, 60.0), st.floats(0.0, 5.0), st.floats(0.0, 40.0))
def test_one_counter_is_what_settling_keeps_of_it(done: str, later: float, moved: float, warm: float) -> None:
    state = run(do(run(build(), 1.0), DONE[done]), 1.0 + warm, step=5.0)
    for subject in (FIRST, SECOND):
        port = state.ports[state.site.ports[subject]]
        at, sent = state.at + later, port.tally.moved + moved
        tally = settle(port, sent, at).tally
        assert [expect(port, name, sent, at) for name in TIMED] == list(tally.timed)
        assert [expect(port, name, sent, at) for name in BORNE] == list(tally.borne)
        assert count_bits(port, sent, at) == tally.bits


@given(st.integers(0, 2**64 - 1), st.lists(st.floats(0.0, 1e9), min_size=1, max_size=8))
def test_counts_do_not_depend_on_who_looked_before(chance: int, levels: list[float]) -> None:
    seen = [count_arrivals(chance, level) for level in levels]
    _reach.cache_clear()
    assert [count_arrivals(chance, level) for level in reversed(levels)] == seen[::-1]


def test_a_port_that_was_read_all_the_time_shows_what_one_shows_that_never_was() -> None:
    quantities = ("link.symbol_errors", "link.receive_errors", "link.fec.corrected", "link.recoveries", "link.bits")
    inputs = Inputs(traffic=(0.5,) * 8)
    state = quiet = do(build(), DONE["ramp"])
    for step in range(1, 41):
        state = run(state, step * 1.0, inputs)
        assert all(sense(state, FIRST, quantity) is not None for quantity in quantities)
    _reach.cache_clear()
    _find_chance.cache_clear()
    quiet = run(quiet, 40.0, inputs)
    assert [sense(quiet, FIRST, quantity) for quantity in quantities] == [sense(state, FIRST, quantity) for quantity in quantities]
