"""Holds: one set, that every node has."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from supernoded.cluster.topics import HoldTold
from supernoded.messages import Holds
from tests.system.cluster.networks import EVERYTHING
from tests.system.cluster.peers import LOOK, PATIENCE
from tests.system.cluster.site import Member, Site


async def wait_for_holds(member: Member, *subjects: str) -> None:
    """It knows that just these are held."""
    await member.daemon.until("holds", Holds, lambda told: sorted(one.subject for one in told.holds) == sorted(subjects))


async def until_written(member: Member, subject: str) -> None:
    """A hold that it has heard is in its own journal: that is done within seconds, not at once."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with closing(sqlite3.connect(member.daemon.journal)) as journal:
                rows = journal.execute("SELECT subject FROM holds").fetchall()
            if (subject,) in rows:
                return
            await asyncio.sleep(LOOK)


async def test_holds_are_known_everywhere_also_after_a_cut_and_an_old_state_of_the_broker(tmp_path: Path, site: Site) -> None:
    await site.settle()
    one, other, cut = site.members
    first = one.sicken(0)
    for member in site.members:
        await wait_for_holds(member, first)
    await site.broker.stop()
    old = tmp_path / "old.db"
    shutil.copy(site.broker.state, old)  # it says that the first hold stands
    await site.broker.start()

    cut.place.cut(EVERYTHING)
    second = other.sicken(1)
    await wait_for_holds(one, first, second)
    one.cure(0)
    await wait_for_holds(other, second)
    assert [hold.subject for hold in await cut.list_holds()] == [first]
    cut.place.heal()
    await wait_for_holds(cut, second)

    since = {member.name: await member.wait_for_link() for member in site.members}
    said = len(site.ear.heard)
    await site.broker.go_back(old)
    for member in site.members:
        await member.wait_for_link(since[member.name])
    # Each of those who tell has said anew what it knows: the old copy is out of date there, too.
    await site.ear.wait("node/n0/hold/.+", HoldTold, lambda told: told.hold.subject == first and told.hold.lifted, since=said)
    await site.ear.wait("node/n1/hold/.+", HoldTold, lambda told: told.hold.subject == second and not told.hold.lifted, since=said)
    for member in site.members:
        assert [hold.subject for hold in await member.list_holds()] == [second]


async def test_a_node_that_was_killed_knows_them_before_it_has_a_broker(site: Site) -> None:
    await site.settle()
    one, other, _ = site.members
    held = one.sicken(1)
    await wait_for_holds(other, held)
    await until_written(other, held)
    await other.daemon.kill()
    other.place.cut(EVERYTHING)
    await other.daemon.start()
    await wait_for_holds(other, held)
