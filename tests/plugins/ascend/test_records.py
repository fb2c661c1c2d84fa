"""When a link changed, by a clock that is not ours."""

from __future__ import annotations

import pytest

from supernoded.plugin import Reading, State
from supernoded_ascend.records import parse_records, read_time

HEAD = """\
[devid 3]current time        : Wed Aug  2 03:09:26 2022
[devid 3]link up count       : 3
"""
DOWN_NOW = """\
[devid 3]link change records :
[devid 3]    Wed Aug  2 02:50:00 2022    LINK DOWN
[devid 3]    Wed Aug  2 02:49:58 2022    LINK UP
[devid 3]    Wed Aug  2 02:49:58 2022    LINK DOWN
[devid 3]    Tue Aug  1 14:43:26 2022    LINK UP
"""


def read(text: str) -> dict[str, Reading]:
    return {reading.quantity: reading for reading in parse_records(text, 1_800_000_000.0, "n0/card3/port0")}


def values(text: str) -> list[object]:
    found = read(text)
    return [found[name].value for name in ("link.state", "link.downed", "link.recent_downs")]


@pytest.mark.parametrize("prefix", ["[devid 3]", "[device 3]", ""])
def test_down_now_by_the_newest_record(prefix: str) -> None:
    assert values((HEAD + DOWN_NOW).replace("[devid 3]", prefix)) == [0.0, 3.0, 2.0]


def test_the_devices_own_count_goes_before_ours() -> None:
    assert values(f"{HEAD}link down count : 17\n{DOWN_NOW}")[1] == 17.0


def test_records_that_fell_off_the_list_are_still_counted() -> None:
    assert values("link up count : 9\n" + DOWN_NOW)[1] == 9.0
    assert values("link up count : 9\n" + DOWN_NOW.replace("    Wed Aug  2 02:50:00 2022    LINK DOWN", ""))[1] == 8.0


def test_up_and_down_in_one_second_are_told_by_their_order() -> None:
    up = "    Tue Aug  1 14:43:40 2022    LINK UP\n    Tue Aug  1 14:43:40 2022    LINK DOWN\n"
    down = "    Tue Aug  1 14:43:40 2022    LINK DOWN\n    Tue Aug  1 14:43:40 2022    LINK UP\n"
    assert [values(f"{HEAD}{text}")[0] for text in (up, down)] == [1.0, 0.0]


def test_a_list_that_begins_with_the_oldest() -> None:
    oldest_first = "\n".join(reversed(DOWN_NOW.splitlines()))
    assert values(HEAD + oldest_first) == [0.0, 3.0, 2.0]


def test_an_hour_is_an_hour_of_the_device() -> None:
    edge = "current time : Wed Aug  2 03:00:00 2022\n    Wed Aug  2 02:00:00 2022    LINK DOWN\n    Wed Aug  2 01:59:59 2022    LINK DOWN\n"
    assert values(edge) == [0.0, 2.0, 1.0]


def test_without_its_own_time_nothing_is_recent_or_old() -> None:
    found = read(DOWN_NOW)
    assert (found["link.recent_downs"].state, found["link.recent_downs"].note) == (State.UNKNOWN, "the device does not tell its own time")
    assert found["link.downed"].value == 2.0


def test_records_after_the_devices_time_are_not_recent() -> None:
    found = read(HEAD + "    Thu Aug  3 03:00:00 2022    LINK DOWN\n    Wed Aug  2 03:00:00 2022    LINK DOWN\n")
    assert found["link.recent_downs"].value == 1.0
    assert found["link.recent_downs"].note == "1 records lie after the device's own time: its clock was set"


def test_a_link_that_never_changed_is_not_known_to_be_up() -> None:
    found = read("current time : Wed Aug  2 03:00:00 2022\nlink up count : 0\nlink down count : 0\nlink change records :\n")
    assert (found["link.state"].value, found["link.state"].note) == (None, "no change is recorded")
    assert (found["link.downed"].value, found["link.recent_downs"].value) == (0.0, 0.0)


def test_nothing_printed() -> None:
    assert {(reading.state, bool(reading.note)) for reading in read("").values()} == {(State.UNKNOWN, True)}


@pytest.mark.parametrize(
    "text", ["Wed Feb 30 10:08:28 2023", "Wed Foo  7 10:08:28 2023", "Wed Jun  7 25:08:28 2023", "Jun 7", "周三 6月 7"]
)
def test_times_that_are_none(text: str) -> None:
    assert read_time(text) is None


def test_times() -> None:
    one, other = read_time("Wed Jun  7 10:08:28 2023"), read_time("Jun 17 10:08:29 2023")
    assert one is not None
    assert other is not None
    assert other - one == 10 * 86_400 + 1
