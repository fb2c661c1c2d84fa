"""PostgreSQL is away: who turns a coolant unit goes on while every standby promises to keep off, and no longer (design section 10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sim_hardware.drives.plugins import Places, list_plugins
from sim_hardware.plant.cooling.orders import SetWatchdog
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import Loop, Node, Sim
from supernoded.messages import Status
from tests.protocol.postgres import Cluster
from tests.system.cluster import turning
from tests.system.cluster.gateways import Gateway, running_gateway
from tests.system.cluster.networks import Network
from tests.system.cluster.peers import MQTT
from tests.system.cluster.plants import Plant, running_plant
from tests.system.cluster.site import NODES, Fitting, Site, running_site
from tests.system.cluster.turning import CDU

QUIET = 'plugins_off = ["ascend", "fabric", "hwmon", "link_ber", "nvidia", "power", "redfish", "thermal"]'
TERM = 6.0  # s; in the shortest there is a standby may not have missed the database yet when it is asked
WATCHDOG = 5.0  # s of the unit's own; it comes with 15
TABLES = """
[[loops]]
name = "cdu0"
wire = "{url}?map=dcd"
authority = "direct"
[plugins.modbus.serials]
"cdu/0" = "{serial}"
[policies.turning]
mode = "act"
[seats.candidates]
"cdu/0" = ["n0", "n1"]
"""

pytestmark = pytest.mark.timeout(180)


def make_rack() -> Rack:
    """Three nodes on one loop, and no job."""
    nodes = tuple(Node(name=name, cards=2, loop="cdu0") for name in NODES)
    return Rack(nodes=nodes, loops=(Loop(name="cdu0", authority="direct"),), sim=Sim(text="three nodes on a loop", job=None))


@asynccontextmanager
async def running_all(folder: Path, network: Network, database: Cluster) -> AsyncIterator[tuple[Site, Plant, Gateway]]:
    """A plant whose unit is reached through the site's network, and three daemons."""
    rack = make_rack()
    serial = list_plugins(rack, NODES[0], Places(folder, ("", 0), ""))["modbus"]["serials"][CDU]
    async with running_plant(folder, rack) as plant:
        plant.world.order(SetWatchdog(CDU, WATCHDOG))
        place = urlsplit(plant.rig.endpoints[CDU])
        assert place.port is not None
        async with running_gateway(network, str(place.hostname), place.port) as gateway:
            fitting = Fitting(tables=TABLES.format(url=gateway.url, serial=serial), keys=QUIET, term=TERM, policies=(turning,))
            async with running_site(folder, network, database, fitting) as site:
                yield site, plant, gateway


def is_bridging(told: Status) -> bool:
    """Whether it steers on without a lease."""
    return any(role.name == CDU and role.bridging for role in told.roles)


async def test_a_coolant_unit_is_turned_without_the_database_as_long_as_the_standby_promises_to_keep_off(
    tmp_path: Path, network: Network, database: Cluster
) -> None:
    async with running_all(tmp_path, network, database) as (site, plant, gateway):
        lease = await site.wait_for_lease(CDU)
        holder = site.find(lease.holder)
        (standby,) = [member for member in site.members[:2] if member is not holder]
        await gateway.wait(holder.place.address, 0.0)
        await holder.wait_for_link()
        await standby.wait_for_link()

        for member in site.members:
            member.place.cut(site.database)
        await holder.daemon.until("status", Status, is_bridging)
        await holder.daemon.log.wait(f"role {CDU}: kept past its lease of epoch {lease.epoch}, since nobody else has it or can take it")
        until = (await site.read_until(CDU)) + TERM  # who asks nobody is off by then
        await gateway.wait(holder.place.address, until)
        assert gateway.list_writers() == {holder.place.address}
        assert plant.truth(CDU, "coolant.control") == "direct"
        assert plant.list_happened("cdu.fallback") == []
        assert CDU not in await standby.list_roles()

        standby.place.cut(MQTT)
        cut = plant.world.now()
        await holder.daemon.until("status", Status, lambda told: CDU not in {role.name for role in told.roles})
        await holder.daemon.log.wait(f"role {CDU}: given up with epoch {lease.epoch} .*: {standby.name} does not answer")
        off = len(gateway.writes)
        await plant.wait("cdu.fallback", CDU, cut)
        assert plant.truth(CDU, "coolant.control") == "auto"
        assert len(gateway.writes) == off  # the unit has done it alone
        assert CDU not in await standby.list_roles()

        fallen = gateway.writes[-1].at
        for member in site.members:
            member.place.heal()
        later = await site.wait_for_lease(CDU)
        await gateway.wait(site.find(later.holder).place.address, fallen)
