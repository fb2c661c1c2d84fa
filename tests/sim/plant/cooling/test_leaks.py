import pytest

from sim_hardware.plant.cooling.orders import BlockFlow, ClearLeak, CloseBranch, Leak
from tests.sim.plant.cooling.cooled import give, list_kinds, load, read, run, start_site


def test_a_drip_shows_at_its_node_and_stays_on_the_sticky_bit() -> None:
    state = start_site(nodes=2)
    state, _ = run(state, 1.0, load(state))
    state = give(state, Leak("n1", 0.5))
    assert list_kinds(list(state.happened)) == ["leak.begun"]
    assert [read(state, subject, "coolant.leak") for subject in ("n0", "n1", "cdu/0")] == [0.0, 1.0, 0.0]
    state = give(state, Leak("n1", 0.0))
    assert list_kinds(list(state.happened)) == ["leak.ended"]
    assert read(state, "n1", "coolant.leak") == 0.0
    assert read(state, "n1", "coolant.leak_sticky") == read(state, "cdu/0", "coolant.leak_sticky") == 1.0
    state = give(state, ClearLeak("cdu/0"))
    assert read(state, "n1", "coolant.leak_sticky") == read(state, "cdu/0", "coolant.leak_sticky") == 0.0


def test_clearing_leaves_what_is_still_wet() -> None:
    state = start_site()
    state = give(run(state, 1.0, load(state))[0], Leak("cdu/0", 0.5), ClearLeak("cdu/0"))
    assert read(state, "cdu/0", "coolant.leak_sticky") == read(state, "cdu/0", "coolant.leak") == 1.0


def test_a_large_leak_wets_two_sensors_and_empties_the_loop() -> None:
    state = start_site(nodes=2)
    state = give(run(state, 1.0, load(state))[0], Leak("n0", 3.0))
    assert list_kinds(list(state.happened)) == ["leak.begun", "leak.large"]
    assert read(state, "n0", "coolant.leak") == read(state, "cdu/0", "coolant.leak") == 1.0
    before = read(state, "cdu/0", "coolant.level")
    state, happened = run(state, 61.0, load(state))
    lost = before - read(state, "cdu/0", "coolant.level")
    assert lost / 100.0 * state.site.loops[0].design.pumping.reservoir_litres == pytest.approx(min(3.0, 0.8 * 1.35), rel=0.05)
    assert {"level.low", "air", "flow.lost"} <= set(list_kinds(happened))


def test_closing_the_branch_stops_its_leak_and_its_flow() -> None:
    state = start_site(nodes=2)
    state = give(run(state, 10.0, load(state))[0], Leak("n0", 0.2), CloseBranch("n0", closed=True))
    assert list_kinds(list(state.happened)) == ["leak.ended", "flow.lost"]
    level = read(state, "cdu/0", "coolant.level")
    rated = read(state, "n1", "coolant.flow")
    state, _ = run(state, 60.0, load(state))
    assert read(state, "cdu/0", "coolant.level") == level
    assert read(state, "n0", "coolant.flow") == 0.0
    assert read(state, "n1", "coolant.flow") == pytest.approx(rated, rel=0.05)
    state = give(state, CloseBranch("n0", closed=False))
    assert list_kinds(list(state.happened)) == ["leak.begun", "flow.back"]


def test_a_blocked_branch_gets_less_and_its_dies_are_hotter() -> None:
    state = start_site(nodes=2)
    state, _ = run(state, 10.0, load(state))
    state, _ = run(give(state, BlockFlow("n0", 0.6)), 120.0, load(state))
    assert read(state, "n0", "coolant.flow") == pytest.approx(0.4 * read(state, "n1", "coolant.flow"))
    assert read(state, "n0/card0", "card.temperature") > read(state, "n1/card0", "card.temperature") + 5.0
    assert read(state, "n0", "coolant.return_temperature") > read(state, "n1", "coolant.return_temperature") + 5.0
