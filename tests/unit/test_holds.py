"""Holds: merged the same way everywhere, durable, and once lifted lifted for good."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import JournalError
from supernoded.holds import KEPT, HoldError, Holds, find_flaw, merge
from supernoded.holds import keeping as room
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import Hold
from supernoded.testing import ManualClock

T = TypeVar("T")

TIMES = st.floats(0.0, 1e10)
TEXTS = st.text(max_size=4)
COPIES = st.builds(
    Hold,
    id=st.just("h1"),
    subject=st.sampled_from(["n0/card3", "n0"]),
    serial=TEXTS,
    reason=TEXTS,
    owner=TEXTS,
    placed=TIMES,
    expires=st.none() | TIMES,
    cause=TEXTS,
    node=TEXTS,
    lifted=st.none() | TIMES,
    lifted_by=TEXTS,
)


def make_hold(id_: str = "h1", subject: str = "n0/card3", *, at: float = 100.0, **more: object) -> Hold:
    plain = Hold(id=id_, subject=subject, serial="SN3", reason="no beat", owner="supernoded_isolation", placed=at, node="n0")
    return msgspec.structs.replace(plain, **more)


async def run_inline(work: Callable[[], T]) -> T:
    return work()


class Desk:
    """One node's holds over a journal, and what it has told."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        self.told: list[Hold] = []
        self.linked = True
        self.clock = clock
        self.journal = open_journal(folder / "journal.db", clock, run=run_inline)
        self.holds = Holds("n0", self.journal, clock, self._tell)

    def _tell(self, hold: Hold) -> bool:
        if self.linked:
            self.told.append(hold)
        return self.linked


@pytest.fixture
def desk(tmp_path: Path, supernoded_clock: ManualClock) -> Desk:
    return Desk(tmp_path, supernoded_clock)


@given(COPIES, COPIES, COPIES)
def test_copies_merge_in_whatever_order_they_come(one: Hold, two: Hold, three: Hold) -> None:
    assert merge(one, two) == merge(two, one)
    assert merge(merge(one, two), three) == merge(one, merge(two, three))
    assert merge(one, one) in (one, msgspec.structs.replace(one, lifted_by=""))
    merged = merge(one, two)
    assert merge(merged, two) == merged
    assert (merged.lifted is None) is (one.lifted is None and two.lifted is None)
    assert merged.placed == min(one.placed, two.placed)


@pytest.mark.parametrize(
    ("more", "flaw"),
    [
        ({"id": "a/b"}, "is no name"),
        ({"id": ""}, "is no name"),
        ({"subject": ""}, "has no subject"),
        ({"owner": ""}, "has no owner"),
        ({"reason": "x" * 5000}, "has 5000 characters, at most 2000"),
        ({"placed": float("nan")}, "placed at nan is no time"),
        ({"expires": float("inf")}, "expires at inf is no time"),
        ({"lifted": -1.0}, "lifted at -1 is no time"),
        ({"cause": "x" * 300}, "too long"),
    ],
)
def test_what_can_be_no_hold_is_named(more: dict[str, object], flaw: str) -> None:
    assert find_flaw(make_hold()) is None
    assert flaw in (find_flaw(msgspec.structs.replace(make_hold(), **more)) or "")


async def test_a_hold_is_durable_told_and_found_by_subject(desk: Desk, tmp_path: Path) -> None:
    placed = await desk.holds.place(make_hold())
    assert await desk.holds.place(make_hold(at=200.0)) == placed
    await desk.holds.place(make_hold("h2", "n0"))
    assert [hold.id for hold in desk.holds.of("n0/card3")] == ["h1", "h2"]
    assert [hold.id for hold in desk.holds.of("n0/card30")] == ["h2"]
    assert [hold.id for hold in desk.holds.of("n1")] == []
    assert desk.told == [placed, make_hold("h2", "n0")]
    await desk.journal.close()
    later = Desk(tmp_path, desk.clock)
    assert later.holds.trouble
    await later.holds.take_up()
    assert (later.holds.standing(), later.holds.trouble) == (desk.holds.standing(), "")


async def test_whatever_a_tool_has_said_is_the_same_in_every_copy(desk: Desk, tmp_path: Path) -> None:
    said = "\ud800 and \0" + "x" * 5000
    placed = await desk.holds.place(make_hold(reason=said, serial="SN\0"))
    assert (placed.serial, len(placed.reason), placed.reason[:8]) == ("SN\ufffd", 2000, "? and \ufffdx")
    assert msgspec.json.decode(msgspec.json.encode(placed), type=Hold) == placed
    await desk.holds.lift("h1", "operator \udcff")
    await desk.journal.close()
    later = Desk(tmp_path, desk.clock)
    await later.holds.take_up()
    assert later.holds.everything() == desk.holds.everything()


async def test_what_is_lifted_stays_lifted_over_a_restart_and_an_old_copy(desk: Desk, tmp_path: Path) -> None:
    hold = await desk.holds.place(make_hold())
    lifted = await desk.holds.lift("h1", "operator alice")
    assert lifted is not None
    assert (lifted.lifted, lifted.lifted_by) == (desk.clock.now(), "operator alice")
    assert await desk.holds.lift("h1", "operator bob") == lifted
    assert await desk.holds.lift("h9", "operator bob") is None
    desk.holds.hear(hold, "n3")
    assert await desk.holds.place(hold) == lifted
    await desk.holds.catch_up()
    await desk.journal.close()
    later = Desk(tmp_path, desk.clock)
    await later.holds.take_up()
    later.holds.hear(hold, "n3")
    assert (later.holds.standing(), later.holds.find("h1")) == ((), lifted)


async def test_an_old_copy_under_our_own_name_is_set_right(desk: Desk) -> None:
    hold = await desk.holds.place(make_hold())
    lifted = await desk.holds.lift("h1", "operator alice")
    desk.told.clear()
    desk.holds.hear(hold, "n3")
    assert desk.told == []
    desk.holds.hear(hold, "n0")
    assert desk.told == [lifted]


async def test_it_expires_by_the_clock(desk: Desk) -> None:
    await desk.holds.place(make_hold(expires=desk.clock.now() + 10.0))
    assert len(desk.holds.standing()) == 1
    await desk.clock.advance(10.0)
    assert desk.holds.standing() == ()


async def test_without_a_link_it_is_told_later_and_at_each_new_link(desk: Desk) -> None:
    desk.linked = False
    hold = await desk.holds.place(make_hold())
    desk.holds.hear(make_hold("h2"), "n1")
    desk.linked = True
    await desk.holds.catch_up()
    assert desk.told == [hold]
    await desk.holds.catch_up()
    assert desk.told == [hold]
    desk.holds.republish()
    assert desk.told == [hold, hold]  # what others have placed is theirs to tell


async def test_a_journal_that_takes_nothing_places_nothing_and_what_is_heard_is_written_later(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_journal: Journal, _work: Callable[..., object]) -> None:
        raise JournalError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "commit", refuse)
        with pytest.raises(JournalError, match="disk is full"):
            await desk.holds.place(make_hold())
        assert (desk.holds.standing(), desk.told) == ((), [])
        desk.holds.hear(make_hold("h2"), "n1")
        await desk.holds.catch_up()
        with pytest.raises(JournalError):
            await desk.holds.lift("h2", "operator alice")
        assert [hold.id for hold in desk.holds.standing()] == ["h2"]
    await desk.holds.catch_up()
    await desk.journal.close()
    later = Desk(tmp_path, desk.clock)
    await later.holds.take_up()
    assert [hold.id for hold in later.holds.standing()] == ["h2"]


async def test_they_are_a_bounded_number_and_the_oldest_lifted_goes_first(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 3)
    for number, lifted in enumerate((50.0, 20.0, None)):
        desk.holds.hear(make_hold(f"h{number}", lifted=lifted and desk.clock.now() - lifted), "n1")
    desk.holds.hear(make_hold("h3"), "n1")
    assert [hold.id for hold in desk.holds.everything()] == ["h1", "h2", "h3"]
    desk.holds.hear(make_hold("h4"), "n1")
    with pytest.raises(HoldError, match="3 holds stand already"):
        desk.holds.hear(make_hold("h5"), "n1")
    with pytest.raises(HoldError, match="3 holds stand already"):
        await desk.holds.place(make_hold("h6"))


async def test_what_was_over_long_ago_is_forgotten(desk: Desk) -> None:
    await desk.holds.place(make_hold())
    await desk.holds.place(make_hold("h2"))
    await desk.holds.lift("h1", "operator alice")
    keeping = asyncio.create_task(desk.holds.run())
    await desk.clock.advance(10.0)
    assert len(desk.holds.everything()) == 2
    keeping.cancel()
    desk.clock._now += KEPT  # a month turned by hand would be half a million turns
    await desk.holds.catch_up()
    assert [hold.id for hold in desk.holds.everything()] == ["h2"]
    desk.holds.hear(make_hold("h1", lifted=100.0), "n1")
    assert desk.holds.find("h1") is None


async def test_many_that_are_heard_at_once_are_written_in_batches(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BATCH", 3)
    for number in range(8):
        desk.holds.hear(make_hold(f"h{number}"), "n1")
    await desk.holds.catch_up()
    await desk.journal.close()
    later = Desk(tmp_path, desk.clock)
    await later.holds.take_up()
    assert later.holds.standing() == desk.holds.standing() != ()


async def test_garbage_is_refused_and_every_change_is_said(desk: Desk) -> None:
    changes: list[int] = []
    desk.holds.on_change.append(lambda: changes.append(len(desk.holds.standing())))
    with pytest.raises(HoldError, match="no subject"):
        desk.holds.hear(make_hold(subject=""), "n1")
    with pytest.raises(HoldError, match="no name"):
        await desk.holds.place(make_hold("#"))
    desk.holds.hear(make_hold("h2"), "n1")
    desk.holds.hear(make_hold("h2"), "n1")
    await desk.holds.lift("h2", "operator alice")
    assert changes == [1, 0]


async def test_many_are_told_anew_in_turns_so_that_commands_find_room(desk: Desk) -> None:
    for number in range(room.AT_ONCE + 5):
        await desk.holds.place(make_hold(f"h{number:04d}"))
    desk.told.clear()
    desk.holds.republish()
    assert len(desk.told) == room.AT_ONCE
    await desk.holds.catch_up()
    await desk.holds.catch_up()
    assert sorted(hold.id for hold in desk.told) == sorted(hold.id for hold in desk.holds.everything())
