"""The job on real cards: what is done to a card or node shows in steps and losses, by physics alone."""

from __future__ import annotations

import msgspec
import pytest

from sim_hardware.plant import cards, job
from sim_hardware.plant.cards.orders import CapCard, FallOff, HangCard, IsolateCard, LeakMemory, PowerNode, ResetCard
from sim_hardware.plant.job.orders import AbortCollective, RemapRanks, RequestCheckpoint, ResumeJob
from sim_hardware.plant.words import Happening, Order
from sim_hardware.rack import generate_rack

RACK = generate_rack(4, 2)  # six ranks and two spares


class Site:
    """Cards and job; both see of each other what held at the beginning of a stretch."""

    def __init__(self) -> None:
        self.cards, self.job = cards.start(RACK, 1), job.start(RACK, 1)
        self.told: list[Happening] = []

    def do(self, order: Order) -> None:
        if type(order).__module__ == "sim_hardware.plant.cards.orders":
            self.cards = cards.apply(self.cards, order)
            self.told += self.cards.happened
        else:
            self.job = job.apply(self.job, order)
            self.told += self.job.happened

    def play(self, seconds: float, dark: tuple[int, ...] = ()) -> None:
        end = self.job.at + seconds
        available = tuple(node not in dark for node in range(len(RACK.nodes)))
        while True:
            given = msgspec.structs.replace(self.cards.inputs, available=available, load=job.list_loads(self.job))
            self.cards = cards.update(self.cards, self.cards.at, given)  # what changed shows at once
            self.told += self.cards.happened
            taken = job.Inputs(cards.list_speeds(self.cards), cards.list_alive(self.cards))
            time = min(end, self.cards.next_time, self.job.next_time)
            self.cards, self.job = cards.update(self.cards, time, given), job.update(self.job, time, taken)
            self.told += [*self.cards.happened, *self.job.happened]
            if time >= end:
                return

    def ask(self, quantity: str) -> object:
        return job.sense(self.job, "job/train", quantity)

    def find(self, kind: str) -> list[float]:
        return [round(news.at, 6) for news in self.told if news.kind == kind]


@pytest.fixture
def site() -> Site:
    site = Site()
    site.play(3.0)
    return site


def test_a_cap_on_one_card_slows_every_step(site: Site) -> None:
    site.do(CapCard("n0/card0", 300.0))
    site.play(20.0)
    assert site.ask("job.step_time") == pytest.approx(2 * (0.939 / (210 / 510) ** (1 / 2.2) + 0.061))
    assert cards.list_watts(site.cards)[0] < 300.0
    assert cards.list_watts(site.cards)[1] < 500.0  # it waits a third of its time


@pytest.mark.parametrize(
    "order",
    [FallOff("n1/card0", off=True), PowerNode("n1", on=False), IsolateCard("n1/card0", isolated=True), ResetCard("n1/card0")],
)
def test_a_card_that_goes_loses_the_job_at_once(site: Site, order: Order) -> None:
    site.play(4.5)
    site.do(order)
    site.play(5.0)
    assert (site.find("job.lost"), site.ask("job.lost_steps"), site.ask("job.state")) == ([7.5], 3.0, "lost")


def test_spares_may_go(site: Site) -> None:
    site.do(PowerNode("n3", on=False))
    site.play(5.0)
    assert (site.find("job.lost"), site.ask("job.state")) == ([], "running")


def test_power_lost_in_mid_save_leaves_the_older_checkpoint(site: Site) -> None:
    site.do(RequestCheckpoint("train"))
    site.play(10.0)
    site.do(RequestCheckpoint("train"))
    site.play(4.0)
    assert site.ask("job.state") == "saving"
    site.play(5.0, dark=(0,))
    assert (site.find("checkpoint.committed"), site.find("job.lost"), site.ask("job.committed_step")) == ([10.0], [17.0], 2.0)


def test_memory_that_runs_out_kills_the_rank(site: Site) -> None:
    site.do(LeakMemory("n2/card1", 1e9))
    site.play(60.0)
    assert site.find("job.lost") == site.find("card.out_of_memory") != []
    assert cards.list_memory(site.cards)[0] < 4e9  # the job's memory is free again


def test_a_hung_card_hangs_its_peers_until_the_spare_has_its_rank(site: Site) -> None:
    site.do(HangCard("n0/card1", hung=True))
    site.play(7.0)
    assert (site.find("rank.silent"), site.find("job.hung"), site.ask("job.step")) == ([3.0], [4.0], 1.0)
    for order in (
        AbortCollective("train"),
        IsolateCard("n0/card1", isolated=True),
        RemapRanks("train", {1: "n3/card0"}),
        ResumeJob("train"),
    ):
        site.do(order)
        site.play(1.0)
    site.play(20.0)
    assert (site.ask("job.state"), site.ask("job.lost_steps")) == ("running", 1.0)
    assert float(str(site.ask("job.step"))) > 5.0
    assert job.list_loads(site.job)[1] == 0.0
