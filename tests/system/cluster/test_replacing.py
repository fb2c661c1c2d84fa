"""A card hangs under three daemons that lease their roles: a spare takes its rank, once, also when the daemon that decides is killed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sim_hardware.plant.cards.orders import IsolateCard
from sim_hardware.plant.job.orders import AbortCollective, RemapRanks, ResumeJob
from sim_hardware.plant.words import Happening
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import Node, Ring, Sim, SimJob, Spare
from supernoded.messages import ReadingFilter, Readings
from tests.protocol.postgres import Cluster
from tests.system.cluster.networks import Network
from tests.system.cluster.peers import PATIENCE
from tests.system.cluster.plants import Plant, running_plant
from tests.system.cluster.site import NODES, STARTS_WITHIN, Fitting, Member, Site, running_site

CARDS = 3
RANKS = 4
DECIDER, NEXT = "n2", "n0"  # the first node has the job's launcher, the last has no part in the job
SPARES = ("n0/card2", "n1/card2")
JOB = "job/train"
WITHIN = 60.0  # s in which a spare steps (issue row H5): generous on a machine that does other things, too
ONCE = (AbortCollective, RemapRanks, ResumeJob, IsolateCard)
# `host` would look at the processes of this very machine, and one that takes it all keeps every card in service.
QUIET = 'plugins_off = ["fabric", "host", "hwmon", "link_ber", "nvidia", "power", "thermal"]'

# Quick eyes and short patience, so that a saga is over in seconds; what guards and breakers allow is as it comes.
TABLES = """
[[spares]]
card = "n0/card2"
[[spares]]
card = "n1/card2"
[seats.candidates]
fleet = ["n0", "n1"]
spares = ["n2", "n0"]
[hooks]
isolate = ["cardctl", "isolate", "{card}"]
release = ["cardctl", "release", "{card}"]
test = ["cardctl", "test", "{card}"]
[job]
silent_s = 3.0
[policies.isolation]
mode = "act"
[plugins.ascend]
npu_smi = ["npu-smi"]
hccn_tool = []
devices = [0, 1, 2]
log_folder = ""
timeout_s = 2.0
cards_s = 2.0
health_s = 2.0
boards_s = 10.0
[plugins.isolation]
settle_s = 0.0
common_s = 3.0
"""

pytestmark = pytest.mark.timeout(300)


def make_rack() -> Rack:
    """Nodes without power, coolant and cables. Two ranks and a spare on two of them; the last has none of it."""
    nodes = tuple(Node(name=name, cards=CARDS) for name in NODES)
    rest = nodes[-1].list_cards()
    return Rack(
        nodes=nodes,
        rings=(Ring(name="cluster", level="cluster", order=NODES),),
        spares=tuple(Spare(card=card) for card in (*SPARES, *rest)),
        sim=Sim(text="three nodes", job=SimJob(step_s=1.0, save_s=1.0, checkpoint_every_s=5.0, tensor=1)),
    )


@asynccontextmanager
async def running_both(folder: Path, network: Network, database: Cluster) -> AsyncIterator[tuple[Site, Plant]]:
    """The plant, and three daemons of which `DECIDER` has the role `spares`: it starts first."""
    fitting = Fitting(tables=TABLES, keys=QUIET, cards=CARDS, tools=folder)
    async with running_plant(folder, make_rack()) as plant, running_site(folder, network, database, fitting, start=False) as site:
        await site.find(DECIDER).daemon.start(STARTS_WITHIN)
        await site.wait_for_lease("spares")
        await asyncio.gather(*(site.find(name).daemon.start(STARTS_WITHIN) for name in NODES if name != DECIDER))
        try:
            yield site, plant
        except AssertionError as error:
            error.add_note(site.tell_logs())
            raise


async def list_holds(member: Member) -> list[Mapping[str, Any]]:
    """What `supernodectl holds` says on a node."""
    command = (sys.executable, "-m", "supernoded.ctl", "--socket", str(member.daemon.socket), "-o", "json", "holds")
    asked = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL)
    async with asyncio.timeout(PATIENCE):
        out, _ = await asked.communicate()
    assert asked.returncode == 0
    told: list[Mapping[str, Any]] = json.loads(out)["holds"]
    return told


async def wait_for_spares(member: Member) -> None:
    """It has heard of the spares of other nodes."""
    wanted = ReadingFilter(quantity="card.serial")
    await member.daemon.until("readings", Readings, lambda told: set(SPARES) <= {one.subject for one in told.readings}, wanted)


@dataclass
class Case:
    """A card that hangs, and what there was before."""

    plant: Plant
    card: str
    begun: float  # s of the plant's time
    rank: int
    step: float
    orders: int

    async def wait(self, kind: str) -> Happening:
        """Something happens to the job since."""
        return await self.plant.wait(kind, JOB, self.begun, WITHIN)

    async def check_end(self) -> None:
        """The job steps on with a spare, and each order was given once."""
        await self.wait("job.remapped")
        resumed = await self.wait("job.resumed")
        await self.plant.wait("checkpoint.committed", JOB, resumed.at, WITHIN)
        assert self.plant.read_number(JOB, "job.step") > self.step
        assert self.plant.truth(f"{JOB}/rank{self.rank}", "rank.card") in SPARES
        given = [order for order in self.plant.world.orders[self.orders :] if isinstance(order, ONCE)]
        assert Counter(type(order) for order in given) == dict.fromkeys(ONCE, 1), given
        assert [order.card for order in given if isinstance(order, IsolateCard)] == [self.card]


async def hang(plant: Plant, card: str) -> Case:
    """The job has just saved, and then a card hangs."""
    saved = await plant.wait("checkpoint.committed", JOB, plant.world.now())
    rank = next(rank for rank in range(RANKS) if plant.truth(f"{JOB}/rank{rank}", "rank.card") == card)
    case = Case(plant, card, saved.at, rank, plant.read_number(JOB, "job.step"), len(plant.world.orders))
    plant.begin("card.hang", card)
    return case


async def test_a_hanging_card_is_replaced_once_also_when_who_decides_is_killed_in_the_middle(
    tmp_path: Path, network: Network, database: Cluster
) -> None:
    async with running_both(tmp_path, network, database) as (site, plant):
        await site.settle()
        decider = site.find(DECIDER)
        await wait_for_spares(decider)

        first = await hang(plant, "n1/card1")
        await first.check_end()
        told = await asyncio.gather(*(list_holds(member) for member in site.members))
        assert [[hold["subject"] for hold in holds] for holds in told] == [[first.card]] * len(NODES)
        assert len({hold["id"] for holds in told for hold in holds}) == 1

        second = await hang(plant, "n0/card0")
        await second.wait("job.aborted")
        before = await site.wait_for_lease("spares")
        await decider.daemon.kill()
        await second.check_end()
        after = await site.wait_for_lease("spares")
        assert [site.find(lease.holder).name for lease in (before, after)] == [DECIDER, NEXT]
        assert {news.subject for news in plant.list_happened("card.isolated")} == {first.card, second.card}
        assert plant.read_number(JOB, "job.world_size") == RANKS
