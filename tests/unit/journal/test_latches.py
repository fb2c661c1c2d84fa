"""What a person resets, and what a role's next holder must know: kept by whoever has the lease, and by nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, create_engine

from supernoded.errors import FencedError
from supernoded.journal import entries
from supernoded.journal.tables import metadata
from supernoded.model import Latch
from tests.unit.journal.samples import take_lease

NOW = 1000.0
LATCH = Latch(name="breaker/cards_out", text="one more", since=NOW)


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def lease(connection: Connection, holder: str, now: float) -> int:
    taken = take_lease("fleet", holder, now, 10.0)(connection)
    assert taken is not None
    return taken.epoch


def test_a_latch_stays_as_it_first_was_until_it_is_reset(connection: Connection) -> None:
    entries.set_latch(LATCH, "fleet", 0, NOW)(connection)
    entries.set_latch(Latch(name=LATCH.name, text="another", since=NOW + 5.0), "fleet", 0, NOW + 5.0)(connection)
    entries.set_latch(Latch(name="a", text="x\0y", since=NOW), "fleet", 0, NOW)(connection)
    assert [latch.text for latch in entries.latches()(connection)] == ["x\ufffdy", "one more"]
    assert entries.reset_latch(LATCH.name, "fleet", 0, NOW)(connection)
    assert not entries.reset_latch(LATCH.name, "fleet", 0, NOW)(connection)
    assert [latch.name for latch in entries.latches()(connection)] == ["a"]


def test_who_has_lost_the_role_latches_resets_and_keeps_nothing(connection: Connection) -> None:
    old = lease(connection, "n0#a", NOW)
    entries.set_latch(LATCH, "fleet", old, NOW)(connection)
    entries.keep_memory("fleet", old, "grants", b"[1]", NOW)(connection)
    new = lease(connection, "n1#b", NOW + 20.0)
    assert new > old
    for work in (
        entries.set_latch(Latch(name="x", text="", since=NOW), "fleet", old, NOW + 21.0),
        entries.reset_latch(LATCH.name, "fleet", old, NOW + 21.0),
        entries.keep_memory("fleet", old, "grants", b"[]", NOW + 21.0),
    ):
        with pytest.raises(FencedError):
            work(connection)
    assert entries.latches()(connection) == [LATCH]
    assert entries.memories("fleet")(connection) == {"grants": b"[1]"}


def test_what_the_next_holder_keeps_counts_though_its_clock_is_behind(connection: Connection) -> None:
    entries.keep_memory("fleet", 0, "grants", b"[1]", NOW)(connection)
    entries.keep_memory("fleet", 0, "grants", b"[1,2]", NOW - 30.0)(connection)
    assert entries.memories("fleet")(connection) == {"grants": b"[1,2]"}
