"""Over random histories of orders and inputs."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.plant import cards
from sim_hardware.plant.cards.orders import BrakePower, CapCard, FallOff, HangCard, IsolateCard, LeakMemory, PowerNode, ResetCard, StormEcc
from sim_hardware.plant.words import Happening, Order, OrderError
from sim_hardware.rack import generate_rack

CARD = st.sampled_from(["n0/card0", "n1/card1"])
ORDERS = st.one_of(
    st.builds(CapCard, CARD, st.none() | st.floats(100, 600)),
    st.builds(ResetCard, CARD),
    st.builds(IsolateCard, CARD, st.booleans()),
    st.builds(PowerNode, st.sampled_from(["n0", "n1"]), st.booleans()),
    st.builds(StormEcc, CARD, st.floats(0, 50), st.integers(0, 3)),
    st.builds(HangCard, CARD, st.booleans()),
    st.builds(FallOff, CARD, st.booleans()),
    st.builds(LeakMemory, CARD, st.sampled_from([0.0, 1e9, 7e9])),
    st.builds(BrakePower, CARD, st.booleans()),
)
MOMENTS = st.tuples(
    st.floats(0.0, 40.0),
    st.lists(st.booleans(), min_size=2, max_size=2),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.booleans(),
    ORDERS | st.none(),
)
HISTORIES = st.lists(MOMENTS, max_size=8)
Moment = tuple[float, list[bool], list[float], bool, Order | None]


def run(history: list[Moment], cuts: int) -> tuple[cards.State, list[Happening]]:
    """The history, each of its intervals cut into so many pieces."""
    state, told = cards.start(generate_rack(2, 2), 3), list[Happening]()
    for seconds, available, load, throttled, order in history:
        if order is not None:
            try:
                state = cards.apply(state, order)
            except OrderError:
                continue
            told += state.happened
        inputs = cards.Inputs(tuple(available), (50.0,) * 4, (throttled,) * 4, tuple(load))
        since = state.at
        for cut in range(1, cuts + 1):
            state = cards.update(state, since + seconds if cut == cuts else since + seconds * cut / cuts, inputs)
            told += state.happened
    return state, told


@given(HISTORIES)
@settings(max_examples=80, deadline=None)
def test_it_does_not_matter_how_time_is_cut(history: list[Moment]) -> None:
    one, told = run(history, 1)
    other, same = run(history, 7)
    assert [(news.kind, news.subject) for news in told] == [(news.kind, news.subject) for news in same]
    assert one.outputs == other.outputs
    assert [(card.corrected, card.full, card.hung) for card in one.cards] == [
        (card.corrected, card.full, card.hung) for card in other.cards
    ]
    assert all(abs(a.leaked - b.leaked) <= 1e-6 * max(a.leaked, 1e6) for a, b in zip(one.cards, other.cards, strict=True))


@given(HISTORIES)
@settings(max_examples=80, deadline=None)
def test_power_stays_in_its_range_and_only_what_lives_computes(history: list[Moment]) -> None:
    state, _ = run(history, 2)
    for number, (watts, speed, alive) in enumerate(zip(state.outputs.watts, state.outputs.speeds, state.outputs.alive, strict=True)):
        cap = state.cards[number].cap or 600.0
        assert watts == 0.0 or 90.0 <= watts <= cap + 1e-9
        assert alive or speed == 0.0
        assert (watts > 0.0) == (state.nodes[state.site.node_of[number]].power != "off")
    assert state.next_time > state.at


@given(HISTORIES)
@settings(max_examples=30, deadline=None)
def test_the_same_history_gives_the_same_state(history: list[Moment]) -> None:
    assert msgspec.json.encode(run(history, 2)[0].cards) == msgspec.json.encode(run(history, 2)[0].cards)
