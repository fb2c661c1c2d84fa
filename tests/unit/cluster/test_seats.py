from __future__ import annotations

from supernoded.cluster.seats import FixedSeats
from supernoded.model import NODE


def test_a_node_writes_for_itself_and_for_the_roles_it_was_given() -> None:
    seats = FixedSeats("n0", {"cdu/0": "n0", "power/site": "n1", "ring/a": "n0"})
    assert seats.held == ["cdu/0", "ring/a"]
    assert seats.find_refusal(NODE) is None
    assert seats.find_refusal("cdu/0") is None
    assert seats.find_refusal("power/site") == "the settings give power/site to n1"
    assert seats.find_refusal("spares") == "the settings give spares to nobody"
