"""A straggler speaks against its card, beside what the machine says of it, and never alone."""

from __future__ import annotations

import pytest

from tests.plugins.isolation.site import CARDS, JOB, Court

CARD = CARDS[2]


def pace(court: Court, looks: int, busy: float = 97.0) -> None:
    """Steps, in which one card is busy for longer than the others; all take as long, as ranks meet in each."""
    for rank, card in court.site.places.items():
        court.site.more[card, "card.utilisation"] = busy if card == CARD else 60.0 + rank % 3
        court.site.more[f"{JOB}/rank{rank}", "rank.step_time"] = 1.3
    court.run(looks)


@pytest.mark.parametrize("code", ["8C084E00", "XID94"])
def test_a_slow_rank_and_a_weak_code_blame_the_card(court: Court, code: str) -> None:
    pace(court, 10)
    assert court.raised == set()
    court.site.codes[CARD] = frozenset({code})
    pace(court, 4)
    assert court.raised == set()  # not yet over as many steps
    pace(court, 8)
    assert court.raised == {("card.faulty", CARD)}
    assert "(pace)" in court.text("card.faulty", CARD)


def test_a_code_alone_does_not(court: Court) -> None:
    court.site.codes[CARD] = frozenset({"8C084E00"})
    pace(court, 20, busy=62.0)
    assert court.raised == set()


def test_nor_a_slow_moment(court: Court) -> None:
    court.site.codes[CARD] = frozenset({"8C084E00"})
    for _ in range(5):
        pace(court, 3)
        pace(court, 1, busy=62.0)
    assert court.raised == set()


@pytest.mark.parametrize(("subject", "quantity", "value"), [(CARD, "card.throttled", 1.0), ("n0", "host.hog", "backup (pid 4711)")])
def test_heat_and_others_are_named_instead(court: Court, subject: str, quantity: str, value: float | str) -> None:
    court.site.more[subject, quantity] = value
    court.site.codes[CARD] = frozenset({"8C084E00"})
    pace(court, 20)
    assert court.raised == set()
