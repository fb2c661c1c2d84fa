from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import PluginError
from supernoded.history import History
from supernoded.model import Reading, State
from tests.unit.worlds import history, reading

WATCH = {"host.load": 60.0}


def test_the_newest_reading_goes_stale_by_age() -> None:
    store = history()
    store.add([reading(1.0, at=10.0)], fresh_for=5.0)
    assert store.view(15.0, WATCH).good("host.load", "n0") is not None
    stale = store.view(15.1, WATCH).newest("host.load", "n0")
    assert stale is not None
    assert stale.state is State.STALE
    assert stale.note == "last read 5.1 s ago, fresh for 5.0 s"
    assert store.view(15.1, WATCH).number("host.load", "n0") is None


def test_unknown_is_no_number() -> None:
    store = history()
    store.add([reading(None, at=10.0)], fresh_for=5.0)
    assert store.view(10.0, WATCH).number("host.load", "n0") is None
    newest = store.view(100.0, WATCH).newest("host.load", "n0")
    assert newest is not None
    assert newest.state is State.UNKNOWN


def test_an_unwatched_quantity_is_refused() -> None:
    with pytest.raises(PluginError, match="not watched"):
        history().view(0.0, WATCH).newest("card.power", "n0")


def test_the_window_is_what_is_watched() -> None:
    store = History({"host.load": 600.0})
    store.add([reading(float(at), at=float(at)) for at in range(0, 100, 10)], fresh_for=5.0)
    assert [r.at for r in store.view(90.0, {"host.load": 30.0}).window("host.load", "n0")] == [60.0, 70.0, 80.0, 90.0]
    assert store.view(90.0, WATCH).window("host.load", "n1") == ()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.0, 50.0)), max_size=200), st.integers(3, 20))
def test_memory_is_bounded_and_the_newest_is_never_lost(steps: list[tuple[str, float]], most: int) -> None:
    store = History({"host.load": 100.0}, most)
    at, last = 0.0, {}
    for subject, wait in steps:
        at += wait
        store.add([reading(1.0, at=at, subject=subject)], fresh_for=5.0)
        last[subject] = at
    assert {r.subject: r.at for r in store.newest(at)} == last
    kept = sum(len(store.view(at, {"host.load": 1e9}).window("host.load", s)) for s in last)
    assert kept <= max(most, 2 * len(last)) + 1


def test_over_the_bound_each_series_keeps_its_share_and_two_at_least() -> None:
    store, names = History({"host.load": 1e9}, 40), [f"n{number}" for number in range(10)]
    for at in range(20):
        store.add([reading(1.0, at=float(at), subject=name) for name in names], fresh_for=5.0)
    assert {len(store.view(19.0, {"host.load": 1e9}).window("host.load", name)) for name in names} == {4}
    for at in range(20, 24):
        store.add([reading(1.0, at=float(at), subject=f"m{number}") for number in range(90)], fresh_for=5.0)
    assert {len(store.view(23.0, {"host.load": 1e9}).window("host.load", f"m{number}")) for number in range(90)} == {2}


def test_what_some_have_read_is_found_among_all() -> None:
    store = history()
    for source in ("a", "b", "c"):
        store.add([msgspec.structs.replace(reading(1.0, at=1.0), source=source)], fresh_for=5.0)
    assert [one.source for one in store.newest(1.0, {"c", "a"})] == ["a", "c"]
    assert store.newest(1.0, {"c", "a"}, {"host.uptime"}) == []
    assert len(store.newest(1.0, None, {"host.load"})) == 3
    assert len(store.newest(1.0)) == 3


def test_a_reading_that_comes_late_is_not_the_newest() -> None:
    store = history()
    for at in (10.0, 30.0, 20.0):
        store.add([reading(at, at=at)], fresh_for=5.0)
    view = store.view(31.0, WATCH)
    assert view.number("host.load", "n0") == 30.0
    assert [r.at for r in view.window("host.load", "n0")] == [10.0, 20.0, 30.0]


def test_what_nobody_reports_any_more_is_forgotten() -> None:
    store = History({"host.load": 60.0}, 4)
    store.add([reading(1.0, at=1.0, subject="gone"), reading(1.0, at=9.0, subject="here")], fresh_for=5.0)
    store.forget(5.0)
    assert store.view(9.0, WATCH).subjects("host.load") == ["here"]
    store.add([reading(1.0, at=at, subject="here") for at in (10.0, 11.0, 12.0)], fresh_for=5.0)
    assert len(store.everything()) == 4  # what was forgotten takes no room


def test_two_sources_of_one_thing_are_two_series() -> None:
    store = History({"link.state": 600.0})
    up = Reading(subject="p", quantity="link.state", value=1.0, unit="1", at=1.0, source="kernel")
    down = msgspec.structs.replace(up, value=0.0, at=2.0, source="tool")
    store.add([up, down], fresh_for=10.0)
    seen = store.view(3.0, {"link.state": 600.0})
    assert seen.sources("link.state", "p") == ["kernel", "tool"]
    assert (seen.number("link.state", "p"), seen.number("link.state", "p", "tool")) == (1.0, 0.0)
    assert [r.source for r in seen.window("link.state", "p", "tool")] == ["tool"]
    assert (seen.newest("link.state", "p", "none"), seen.sources("link.state", "q")) == (None, [])
    assert [r.source for r in store.newest(3.0)] == ["kernel", "tool"]


def test_all_sources_are_told_at_once_as_of_now() -> None:
    store = History({"link.state": 600.0})
    up = Reading(subject="p", quantity="link.state", value=1.0, unit="1", at=1.0, source="tool")
    store.add([up, msgspec.structs.replace(up, at=20.0, source="kernel")], fresh_for=10.0)
    seen = store.view(21.0, {"link.state": 600.0})
    assert {source: one.state for source, one in seen.told("link.state", "p").items()} == {"kernel": State.GOOD, "tool": State.STALE}
    assert list(seen.told("link.state", "p")) == ["kernel", "tool"]
    assert seen.told("link.state", "q") == {}
    with pytest.raises(PluginError, match="not watched"):
        seen.told("link.speed", "p")


def test_the_last_good_reading_is_found_behind_what_could_not_be_read_within_the_window() -> None:
    store = History({"link.state": 600.0})
    up = Reading(subject="p", quantity="link.state", value=1.0, unit="1", at=1.0, source="tool")
    lost = [msgspec.structs.replace(up, value=None, state=State.UNKNOWN, at=at) for at in (2.0, 3.0)]
    store.add([up, *lost], fresh_for=10.0)
    assert store.view(50.0, {"link.state": 60.0}).last_good("link.state", "p") == up
    assert store.view(70.0, {"link.state": 60.0}).last_good("link.state", "p") is None
    assert store.view(70.0, {"link.state": 60.0}).last_good("link.state", "q") is None


def test_without_a_source_the_first_that_is_good_answers() -> None:
    store = History({"link.state": 600.0})
    lost = Reading(subject="p", quantity="link.state", value=None, unit="1", at=1.0, state=State.UNKNOWN, source="kernel")
    store.add([lost, msgspec.structs.replace(lost, value=1.0, state=State.GOOD, source="tool")], fresh_for=10.0)
    seen = store.view(3.0, {"link.state": 600.0})
    assert (seen.number("link.state", "p"), seen.number("link.state", "p", "kernel")) == (1.0, None)
    late = store.view(50.0, {"link.state": 600.0}).newest("link.state", "p")
    assert late is not None
    assert (late.source, late.state) == ("kernel", State.UNKNOWN)  # none is good: the first


def test_what_one_source_no_longer_reports_is_forgotten_and_the_other_stays() -> None:
    store = History({"link.state": 600.0})
    old = Reading(subject="p", quantity="link.state", value=1.0, unit="1", at=1.0, source="kernel")
    store.add([old, msgspec.structs.replace(old, at=100.0, source="tool")], fresh_for=10.0)
    store.forget(50.0)
    assert [r.source for r in store.newest(101.0)] == ["tool"]
    store.forget(500.0)
    assert store.newest(501.0) == []


def test_texts_and_flags_are_asked_by_their_kind() -> None:
    watches = {"link.fec": 60.0, "link.los": 60.0}
    store = History(watches)
    fec = Reading(subject="p", quantity="link.fec", value="none", unit="text", at=1.0)
    los = Reading(subject="p", quantity="link.los", value=frozenset({"rx-los"}), unit="flags", at=1.0)
    store.add([fec, los], fresh_for=10.0)
    seen = store.view(2.0, watches)
    assert (seen.text("link.fec", "p"), seen.flags("link.los", "p")) == ("none", frozenset({"rx-los"}))
    assert (seen.flags("link.fec", "p"), seen.text("link.los", "p"), seen.number("link.los", "p")) == (None, None, None)


def test_words_flags_and_states_turn_and_numbers_drift() -> None:
    store = history()
    pairs = [
        (5.0, 5.0),
        (5.0, 6.0),
        (0.0, 1.0),
        (7.0, 0.0),
        (5.0, None),
        (None, None),
        ("up", "up"),
        ("up", "down"),
        (frozenset("a"), frozenset("b")),
    ]
    turned = []
    for number, values in enumerate(pairs):
        subject = f"n{number}"
        assert store.add([reading(values[0], at=1.0, subject=subject)], 10.0) == {"host.load"}  # first sight
        turned.append(bool(store.add([reading(values[1], at=2.0, subject=subject)], 10.0)))
    assert turned == [False, False, True, True, True, False, False, True, True]


def test_subjects_are_counted_for_each_quantity() -> None:
    store = history()
    kinds = [(quantity, subject) for quantity in ("host.load", "disk.used") for subject in ("n0", "n1")]
    store.add([msgspec.structs.replace(reading(1.0), quantity=quantity, subject=subject) for quantity, subject in kinds], 10.0)
    assert [store.count(watched) for watched in ((), ("host.load",), ("host.load", "disk.used", "fan.speed"))] == [0, 2, 4]
