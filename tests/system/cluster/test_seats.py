"""Roles: one holder each, whatever is cut or killed."""

from __future__ import annotations

from pathlib import Path

from supernoded.cluster.topics import RoleView
from supernoded.messages import Status
from tests.system.cluster.networks import EVERYTHING
from tests.system.cluster.site import STARTS_WITHIN, Site
from tests.system.daemons import Daemon

ROLES = ("fleet", "spares")


def check_views(site: Site, role: str) -> None:
    """No epoch of a role was ever told by two nodes."""
    told = {(view.epoch, view.node) for view in site.ear.list_said(f"role/{role}/view", RoleView)}
    epochs = [epoch for epoch, _ in told]
    assert sorted(epochs) == sorted(set(epochs)), told


async def test_each_role_has_one_holder_and_all_know_it(site: Site) -> None:
    for role in ROLES:
        lease = await site.wait_for_lease(role)
        holder = site.find(lease.holder)
        view = await site.ear.wait(f"role/{role}/view", RoleView, lambda view: view.held)
        assert (view.node, view.epoch) == (holder.name, lease.epoch)
        assert role in await holder.list_roles()
        for other in site.list_others(holder):
            assert role not in await other.list_roles()
        check_views(site, role)


async def test_a_holder_that_is_cut_off_has_stepped_down_before_another_has_its_role(site: Site) -> None:
    lease = await site.wait_for_lease("fleet")
    old = site.find(lease.holder)
    await old.wait_for_role("fleet")
    old.place.cut(EVERYTHING)
    later = await site.wait_for_lease("fleet", lambda now: now.holder != lease.holder)
    assert "fleet" not in await old.list_roles()
    assert later.epoch > lease.epoch
    new = site.find(later.holder)
    await new.wait_for_role("fleet")
    old.place.heal()
    await old.daemon.until("status", Status, lambda told: told.session is not None and told.session.connected)
    still = await site.wait_for_lease("fleet")
    assert (still.holder, still.epoch) == (later.holder, later.epoch)
    assert "fleet" not in await old.list_roles()
    check_views(site, "fleet")


async def test_a_holder_that_was_killed_is_followed_by_another(site: Site) -> None:
    lease = await site.wait_for_lease("fleet")
    old = site.find(lease.holder)
    await old.daemon.kill()
    later = await site.wait_for_lease("fleet", lambda now: now.holder != lease.holder)
    assert site.find(later.holder) is not old
    assert later.epoch > lease.epoch
    await site.find(later.holder).wait_for_role("fleet")
    await old.daemon.start(STARTS_WITHIN)
    await old.wait_for_link()
    check_views(site, "fleet")


async def test_without_the_database_roles_end_and_come_back_with_it(site: Site) -> None:
    for role in ROLES:
        await site.wait_for_lease(role)
    for member in site.members:
        member.place.cut(site.database)
    for member in site.members:
        await member.daemon.until("status", Status, lambda told: not told.roles)
        assert (await member.daemon.status()).ready
    left = {role: lease.until for role, lease in (await site.read_leases()).items()}  # a holder steps down a little before its lease ends
    for member in site.members:
        member.place.heal(site.database)
    for role in ROLES:
        lease = await site.wait_for_lease(role, lambda lease: lease.until > left.get(lease.role, 0.0))
        holder = site.find(lease.holder)
        await holder.wait_for_role(role)
        check_views(site, role)


async def test_a_second_daemon_of_a_name_stays_off(tmp_path: Path, site: Site) -> None:
    first, other, _ = site.members
    tables = first.daemon.file.read_text()
    double = Daemon(tmp_path / "double", name=first.name, enter=other.place.enter, environment=first.daemon.environment)
    double.file.write_text(tables.replace(str(first.daemon.folder), str(double.folder)))
    async with double:
        await double.start(STARTS_WITHIN)
        await double.log.wait(f"another daemon calls itself {first.name}")
        assert not (await double.status()).roles
        told = await double.status()
        assert told.session is not None
        assert not told.session.connected
        assert await first.wait_for_link()
        leases = await site.read_leases()
        assert {site.find(lease.holder).name for lease in leases.values()} <= {member.name for member in site.members}
