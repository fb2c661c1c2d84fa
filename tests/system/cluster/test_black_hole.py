"""A database whose packets are dropped: nobody waits for it to be ready."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.messages import Status
from tests.protocol.postgres import Cluster
from tests.system.cluster.networks import Network
from tests.system.cluster.site import STARTS_WITHIN, running_site

pytestmark = pytest.mark.timeout(120)


async def test_a_daemon_is_ready_before_its_database_has_answered_or_failed(tmp_path: Path, network: Network, database: Cluster) -> None:
    """It asks first a second after it is ready, and gives a connection seconds more to fail: by then it has told long ago."""
    async with running_site(tmp_path, network, database, start=False) as site:
        one = site.members[0]
        one.place.cut(site.database)
        await one.daemon.start(STARTS_WITHIN)
        told = await one.daemon.status()
        assert told.ready
        assert [trouble for trouble in told.troubles if trouble.startswith("database")] == []

        await one.daemon.log.wait("journal postgresql.*(takes no writes|did not answer)")  # only then it has failed
        await one.daemon.until("status", Status, lambda told: any("roles are neither renewed" in trouble for trouble in told.troubles))
        assert (await one.daemon.status()).ready
        assert await site.read_leases() == {}
        one.place.heal()
        await site.wait_for_lease("fleet")
        await one.wait_for_role("fleet")
