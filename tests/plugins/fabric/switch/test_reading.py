"""What switches print: the founding documents' syntax, others by patterns, and garbage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import PluginError, Reading, State
from supernoded.quantities import find_fault
from supernoded_fabric.switch.reading import COUNTERS, SETTINGS, compile_patterns, parse_answer

PATTERNS = compile_patterns("s1", {})
GOOD = "interface 25GE1/0/1\n pfc priority 4 buffer-size 120000\n ecn enable\n ecn threshold 110000\n"


def read(text: str, wanted: tuple[str, ...] = SETTINGS) -> dict[str, Reading]:
    return {reading.quantity: reading for reading in parse_answer(text, wanted, PATTERNS, "switch/s1", 5.0)}


def values(text: str, wanted: tuple[str, ...] = SETTINGS) -> list[object]:
    return [reading.value for reading in read(text, wanted).values()]


def test_settings() -> None:
    assert values(GOOD) == [120_000.0, 110_000.0, 1.0]
    assert values(GOOD.replace("\n", "\r\n").upper()) == [120_000.0, 110_000.0, 1.0]
    one = read(GOOD)["switch.pfc_threshold"]
    assert (one.subject, one.unit, one.at, one.state) == ("switch/s1", "B", 5.0, State.GOOD)


@pytest.mark.parametrize("line", ["undo ecn enable", "", "! nothing of it"])
def test_marking_that_is_undone_or_not_mentioned_is_off(line: str) -> None:
    assert values(GOOD.replace("ecn enable", line)) == [120_000.0, 110_000.0, 0.0]


def test_other_priorities_are_not_ours() -> None:
    found = read(GOOD.replace("priority 4", "priority 3"))["switch.pfc_threshold"]
    assert (found.value, found.state, found.note) == (None, State.UNKNOWN, "switch.pfc_threshold is not in its answer")


def test_of_two_lines_the_last_counts() -> None:
    assert values(f"{GOOD}pfc priority 4 buffer-size 60000\n")[0] == 60_000.0


@pytest.mark.parametrize("text", ["", "Error: Unrecognized command\n", "\x00\x01\xff", "Permission denied, please try again.\n"])
def test_what_is_no_answer_says_nothing_not_even_that_marking_is_off(text: str) -> None:
    assert values(text) == [None, None, None]
    assert all(reading.note for reading in read(text).values())


def test_counters() -> None:
    assert values("drops 12\nmarks: 0\n  pauses   18446744073709551615\n", COUNTERS) == [12.0, 0.0, 18446744073709551615.0]


@pytest.mark.parametrize("word", ["-", "N/A", "1,234", "-5", "1e3", "99999999999999999999999"])
def test_what_is_no_number_is_unknown_and_never_zero(word: str) -> None:
    found = read(f"drops {word}\nmarks 1\npauses 2\n", COUNTERS)
    assert (found["switch.drops"].value, found["switch.drops"].note[:10]) == (None, "no number:")
    assert (found["switch.marks"].value, found["switch.pauses"].value) == (1.0, 2.0)


def test_another_syntax_by_patterns() -> None:
    own = {"switch.ecn": r"Explicit congestion notification\s*:\s*(\w+)", "switch.drops": r"Discards\s*=\s*(\d+)"}
    patterns = compile_patterns("leaf1", own)
    text = "Explicit congestion notification : Disabled\nDiscards = 7\n"
    found = parse_answer(text, ("switch.ecn", "switch.drops"), patterns, "switch/leaf1", 0.0)
    assert [reading.value for reading in found] == [0.0, 7.0]
    (enabled,) = parse_answer(text.replace("Disabled", "enabled"), ("switch.ecn",), patterns, "switch/leaf1", 0.0)
    assert enabled.value == 1.0


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"switch.colour": "(x)"}, "nothing that is read"),
        ({"switch.ecn": "("}, "no regular expression"),
        ({"switch.ecn": "ecn"}, "has 0 groups"),
    ],
)
def test_patterns_that_cannot_be_are_named(own: dict[str, str], said: str) -> None:
    with pytest.raises(PluginError, match=rf"switches\.s1\.patterns: switch\.\w+.*{said}"):
        compile_patterns("s1", own)


@given(st.text(max_size=400) | st.lists(st.sampled_from([*GOOD.splitlines(), "drops x", "marks 1", "ecn", "\r", "٣"])).map("\n".join))
def test_any_text_gives_a_reading_of_each_that_is_good_or_says_why(text: str) -> None:
    wanted = (*SETTINGS, *COUNTERS)
    found = parse_answer(text, wanted, PATTERNS, "switch/s1", 1.0)
    assert [reading.quantity for reading in found] == list(wanted)
    for reading in found:
        if reading.state is State.GOOD:
            assert find_fault(reading) is None or reading.quantity.endswith("threshold")  # a range is the daemon's business
        else:
            assert (reading.value, bool(reading.note)) == (None, True)
