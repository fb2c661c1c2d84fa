from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.ctl.thermal_map import BARS, HeatMap, Strips, draw_strip
from supernoded.messages import CardHeat, NodeHeat, Track
from tests.unit.admin.fake_heat import DARK, WARM

TEMPERATURES = st.none() | st.floats(-40.0, 150.0)


def make_node(name: str, temperatures: list[float | None], *, throttled: bool = False) -> NodeHeat:
    return NodeHeat(node=name, cards=tuple(CardHeat(temperature=one, throttled=throttled) for one in temperatures))


def draw(nodes: list[NodeHeat], width: int) -> list[str]:
    return [line.plain for line in HeatMap(nodes).draw(width)]


def test_one_row_a_node_and_one_cell_a_card_under_its_slot() -> None:
    lines = draw([WARM, DARK], 120)
    assert lines[0] == "NODE   0   1   2   3"
    assert lines[1].startswith("n0    61 93!   ?  74  hottest 93.4 C in card1")
    assert lines[2] == "n1     ?   ?   ?   ?  nothing is read of it here"


def test_colours_are_for_the_temperature_and_unknown_is_not_the_colour_of_cold() -> None:
    (_, line, *_) = HeatMap([WARM]).draw(120)
    assert [(line.plain[span.start : span.end], str(span.style)) for span in line.spans] == [
        ("61", "green"),
        ("93!", "bold red"),
        ("?", "magenta"),
        ("74", "yellow"),
    ]


def test_cells_that_do_not_fit_go_on_below_and_what_is_known_of_the_node_follows() -> None:
    node = make_node("n0", [60.0 + i for i in range(10)])
    lines = draw([node], 20)
    assert lines[0] == "NODE  0  1  2  3  4"
    assert lines[1:3] == ["n0   60 61 62 63 64", "     65 66 67 68 69"]
    assert "nothing is read" in lines[3]


def test_a_node_without_cards_has_none_in_the_header() -> None:
    assert [line.rstrip() for line in draw([make_node("n0", [])], 80)] == ["NODE", "n0"]


def test_a_rack_of_64_nodes_fits_a_line_each() -> None:
    lines = draw([make_node(f"node{i:02}", [61.0] * 8) for i in range(64)], 80)
    assert len(lines) == 65
    assert all(len(line) <= 80 for line in lines)


@given(st.lists(st.lists(TEMPERATURES, max_size=24), min_size=1, max_size=5), st.integers(20, 200), st.booleans())
def test_every_card_is_drawn_once_at_any_width(nodes: list[list[float | None]], width: int, throttled: bool) -> None:
    drawn = [make_node(f"n{i}", row, throttled=throttled) for i, row in enumerate(nodes)]
    cells = [span for line in HeatMap(drawn).draw(width)[1:] for span in line.spans]
    assert len(cells) == sum(map(len, nodes))
    assert all(len(line.plain) <= max(width, len("     nothing is read of it here")) for line in HeatMap(drawn).draw(width)[1:])


def test_a_strip_is_scaled_to_what_it_shows_and_a_steady_value_is_no_storm() -> None:
    rising = Track(quantity="coolant.valve", unit="%", points=tuple((float(i), float(i)) for i in range(100)))
    assert draw_strip(rising, 0.0, 100.0, 8) == BARS
    steady = Track(quantity="coolant.supply_temperature", unit="C", points=tuple((float(i), 22.0 + 0.1 * (i % 2)) for i in range(100)))
    assert set(draw_strip(steady, 0.0, 100.0, 50)) <= set("▄▅")


def test_what_was_not_read_is_a_gap_and_what_could_not_be_measured_a_question() -> None:
    track = Track(quantity="coolant.flow", unit="L/min", points=((1.0, 800.0), (5.0, None), (9.0, 800.0)))
    assert draw_strip(track, 0.0, 10.0, 5) == "▅ ? ▅"
    assert draw_strip(Track(quantity="coolant.flow", points=((1.0, None),)), 0.0, 10.0, 5) == "?    "


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.none() | st.floats(-1e9, 1e9)), max_size=50), st.floats(0.0, 1e4), st.integers(1, 200))
def test_a_strip_is_as_long_as_it_was_asked_to_be(points: list[tuple[float, float | None]], length: float, columns: int) -> None:
    drawn = draw_strip(Track(quantity="x", unit="C", points=tuple(points)), 0.0, length, columns)
    assert len(drawn) == columns


def test_a_narrow_terminal_gets_shorter_strips_without_extremes() -> None:
    track = Track(quantity="coolant.return_temperature", unit="C", points=((0.0, 34.0), (60.0, 35.0)))
    wide, narrow = (Strips([track], 0.0, 60.0).draw(width) for width in (100, 38))
    assert wide[1].plain.startswith("return  35.00 C  34.00  35.00  ▁")
    assert narrow[1].plain.startswith("return  35.00 C  ▁")
    assert max(len(line.plain) for line in narrow) <= 38
