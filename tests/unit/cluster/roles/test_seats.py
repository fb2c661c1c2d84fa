from __future__ import annotations

import asyncio

import pytest

from supernoded.cluster.roles.bridging import ask_nobody, find_objection, is_bridged
from supernoded.cluster.roles.seats import FixedSeats, Tenure
from supernoded.model import NODE
from tests.unit.worlds import run

SEATS = FixedSeats("n0", {"cdu/0": "n0", "power/site": "n1", "ring/a": "n0"}, since=5.0)


def test_a_node_writes_for_itself_and_for_the_roles_it_was_given() -> None:
    assert SEATS.held == ["cdu/0", "ring/a"]
    assert SEATS.find_refusal(NODE) is None
    assert SEATS.find_refusal("cdu/0") is None
    assert SEATS.find_refusal("power/site") == "the settings give power/site to n1"
    assert SEATS.find_refusal("spares") == "the settings give spares to nobody"


def test_a_fixed_seat_has_epoch_0_and_no_end() -> None:
    assert SEATS.tenures == [Tenure(role=role, epoch=0, since=5.0) for role in ("cdu/0", "ring/a")]
    assert (SEATS.epoch("cdu/0"), SEATS.age) == (0, 0.0)
    assert [SEATS.is_vacant(role) for role in ("cdu/0", "power/site")] == [False, True]


@pytest.mark.parametrize(
    ("role", "kept"), [("cdu/0", True), ("feed/A", True), ("fleet", False), ("power/site", False), ("ring/pod", False)]
)
def test_only_who_steers_a_device_keeps_on_without_the_database(role: str, kept: bool) -> None:
    assert is_bridged(role) is kept


@pytest.mark.parametrize(
    ("answers", "objection"),
    [
        ({"n1": True, "n2": True}, ""),
        ({"n1": True, "n2": False}, "n2 has it, or can take it"),
        ({"n1": None, "n2": False}, "n1 does not answer; n2 has it, or can take it"),
        ({}, ""),
    ],
)
def test_every_candidate_must_confirm(answers: dict[str, bool | None], objection: str) -> None:
    async def confirm(role: str, node: str) -> bool | None:
        assert role == "cdu/0"
        return answers[node]

    assert run(find_objection("cdu/0", list(answers), confirm)) == objection


def test_a_candidate_that_says_nothing_is_not_waited_for() -> None:
    async def confirm(role: str, node: str) -> bool | None:
        await asyncio.sleep(0.0 if node == "n1" else 1e6)
        return True

    async def main() -> None:
        assert await find_objection("cdu/0", ["n1", "n2"], confirm) == "n2 does not answer"
        assert asyncio.get_running_loop().time() <= 2.1

    run(main())


def test_without_keys_nobody_confirms_anything() -> None:
    assert run(find_objection("cdu/0", ["n1"], ask_nobody)) == "n1 does not answer"
