"""Messages that did not come, by those that did."""

from __future__ import annotations

import pytest

from supernoded.cluster.losses import MOST, WINDOW, Losses

TOLD = "messages that other nodes told in 10 s were lost"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([("n1", "a", number) for number in range(50)], ""),
        ([("n1", "a", number) for number in range(50) if number % 25 != 7], ""),  # 4 %
        (
            [("n1", "a", number) for number in range(50) if number % 10 != 7],
            f"10 % of the 50 {TOLD}",
        ),
        ([("n1", "a", 1), ("n1", "a", 1), ("n1", "a", 2)], ""),  # told twice
        ([("n1", "a", 2), ("n1", "a", 1), ("n1", "a", 2)], ""),  # out of order
        ([("n1", "a", 40), ("n1", "b", 1), ("n1", "b", 2)], ""),  # another life
        ([("n1", "a", 40), ("n2", "b", 9)], ""),  # others count for themselves
        ([("n1", "a", 40), ("n1", "a", 42 + MOST)], ""),
        ([("n1", "a", 2**70), ("n1", "a", -(2**70))], ""),
    ],
)
def test_what_is_missing_between_two_of_one_life_was_lost(told: list[tuple[str, str, int]], words: str) -> None:
    said = list[str]()
    losses = Losses(0.0, said.append)
    for node, life, number in told:
        losses.hear(node, life, number)
    losses.look(WINDOW - 0.1)
    assert said == []
    losses.look(WINDOW)
    assert [text.partition(",")[0] for text in said] == [words]
    losses.look(2 * WINDOW)
    assert said[1:] == [""]
