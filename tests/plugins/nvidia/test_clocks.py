"""Whether a card slows down for heat, in the words of several years."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Reading
from supernoded.quantities import find_fault
from supernoded_nvidia.cards import read_sheet
from supernoded_nvidia.clocks import PATHS, read_throttle
from supernoded_nvidia.document import Sheet, parse_text, parse_xml

WORDS = ("Active", "Not Active", "N/A", "[Unknown Error]", "")


def throttle(facts: dict[str, str]) -> Reading:
    (reading,) = read_throttle(facts, "n0/card0", 7.0)
    assert find_fault(reading) is None or reading.value is None
    assert (reading.subject, reading.quantity, reading.at) == ("n0/card0", "card.throttled", 7.0)
    return reading


@pytest.mark.parametrize("name", ["event", "throttle"])
@pytest.mark.parametrize(
    ("hardware", "software", "value", "note"),
    [
        ("Active", "Not Active", 1.0, ""),
        ("Not Active", "Active", 1.0, ""),
        ("Active", "N/A", 1.0, ""),
        ("Not Active", "Not Active", 0.0, ""),
        ("Not Active", "N/A", None, "the tool says 'N/A'"),
        ("N/A", "N/A", None, "the tool says 'N/A'"),
    ],
)
def test_the_document(name: str, hardware: str, software: str, value: float | None, note: str) -> None:
    body = "".join(
        f"<clocks_{name}_reason_{who}_thermal_slowdown>{word}</clocks_{name}_reason_{who}_thermal_slowdown>"
        for who, word in (("hw", hardware), ("sw", software))
    )
    text = f'<nvidia_smi_log><gpu id="00000000:A1:00.0"><clocks_{name}_reasons>{body}</clocks_{name}_reasons></gpu></nvidia_smi_log>'
    (sheet,) = parse_xml(text).sheets
    told = throttle(dict(sheet.facts))
    assert (told.value, told.note) == (value, note)


def test_the_text_has_one_of_them_below_another() -> None:
    text = """
GPU 00000000:A1:00.0
    Clocks Event Reasons
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    Clocks Event Reasons Counters
        SW Thermal Slowdown               : 0 us
"""
    (sheet,) = parse_text(text)
    assert throttle(dict(sheet.facts)).value == 1.0


def test_a_power_brake_is_no_heat_and_a_driver_that_does_not_tell_says_nothing() -> None:
    brake = Sheet("0000:a1:00.0", {"clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown": "Active"})
    assert "card.throttled" not in {one.quantity for one in read_sheet(brake, "n0/card0", 7.0)}
    told = Sheet("0000:a1:00.0", {PATHS[0]: "Active"})
    assert "card.throttled" in {one.quantity for one in read_sheet(told, "n0/card0", 7.0)}


@given(st.dictionaries(st.sampled_from(PATHS), st.sampled_from(WORDS) | st.text(max_size=20), min_size=1))
def test_it_is_one_when_any_says_so_and_never_nought_beside_what_is_not_understood(facts: dict[str, str]) -> None:
    value = throttle(facts).value
    words = {word.strip().strip("[]").strip().casefold() for word in facts.values()}
    assert (value == 1.0) == ("active" in words)
    assert value != 0.0 or words == {"not active"}
