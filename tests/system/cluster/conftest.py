from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.protocol.postgres import Cluster, running_cluster
from tests.system.cluster.networks import SITE, Network, find_obstacle, lay_network
from tests.system.cluster.site import Site, running_site


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    """The site's own namespace, for the tests of one process."""
    obstacle = find_obstacle()
    if obstacle:
        pytest.skip(obstacle)
    with lay_network() as network:
        yield network


@pytest.fixture(scope="session")
def database(network: Network) -> Iterator[Cluster]:
    """The site's PostgreSQL; each site has a database of its own in it."""
    with running_cluster(SITE, network.enter) as cluster:
        yield cluster


@pytest.fixture
async def site(tmp_path: Path, network: Network, database: Cluster) -> AsyncIterator[Site]:
    """Three nodes whose daemons are ready."""
    async with running_site(tmp_path, network, database) as site:
        yield site
