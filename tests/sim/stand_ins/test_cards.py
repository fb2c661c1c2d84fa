"""Policies that are wrong about cards do what their names say; what that costs is for scenarios to show."""

from __future__ import annotations

import pytest

from sim_hardware.plant.cards.orders import HangCard, RaiseCode, SlowCard
from sim_hardware.plant.job.orders import SilenceRank
from sim_hardware.plant.words import Order
from sim_hardware.rack import load_rack
from sim_hardware.stand_ins import STAND_INS, StandIn
from sim_hardware.world import World

RACK = load_rack("rack-4x8")
VICTIM = "n1/card2"  # rank 10


class Play:
    """A rack that is looked at once a second."""

    def __init__(self, policy: str) -> None:
        self.at = 0.0
        self.world = World(RACK, 1, lambda: self.at)
        self.policy: StandIn = STAND_INS[policy]()

    def go(self, seconds: int, *orders: Order) -> Play:
        for order in orders:
            self.world.order(order)
        for _ in range(seconds):
            self.at += 1.0
            self.policy.act(self.world)
        return self

    def isolated(self) -> list[str]:
        return [card for card in RACK.list_cards() if self.world.truth(card, "card.isolated")]

    def truth(self, subject: str, quantity: str) -> object:
        return self.world.truth(subject, quantity)


@pytest.mark.parametrize("policy", ["isolate-at-once", "shrink-by-one", "blame-the-card-always"])
def test_a_healthy_rack_is_let_be(policy: str) -> None:
    play = Play(policy).go(60)
    assert (play.isolated(), play.truth("job/train", "job.state")) == ([], "running")


@pytest.mark.parametrize(
    "order", [RaiseCode(VICTIM, code="80CB8009", present=True), HangCard(VICTIM, hung=True), SilenceRank("train", 10, silent=True)]
)
def test_one_sign_is_enough_for_it(order: Order) -> None:
    play = Play("isolate-at-once").go(10).go(3, order)
    assert play.isolated() == [VICTIM]
    assert play.truth("job/train/rank10", "rank.card") == "n3/card0"


def test_a_group_is_not_made_smaller_by_one() -> None:
    """The plant refuses, so that the job is where it was, and hangs again."""
    play = Play("shrink-by-one").go(10).go(20, HangCard(VICTIM, hung=True))
    assert play.truth("job/train", "job.world_size") == 24.0
    assert play.truth("job/train/rank10", "rank.card") == VICTIM
    assert play.truth("job/train", "job.state") != "running"


def test_a_node_whose_machine_is_busy_costs_cards() -> None:
    busy = [SlowCard(f"n1/card{slot}", 40.0) for slot in range(8)]
    play = Play("blame-the-card-always").go(20).go(45, *busy)
    assert len(play.isolated()) >= 3
    assert all(card.startswith("n1/") for card in play.isolated())
