"""What a beat tells of its node."""

from __future__ import annotations

from supernoded.cluster.presence import VITALS, find_vitals
from supernoded.cluster.topics import Vitals
from supernoded.history import History
from supernoded.model import Reading, State, Value

UNITS = {"card.power": "W", "card.temperature": "C", "job.step": "1"}


def tell(*told: tuple[str, str, Value]) -> Vitals:
    history = History(VITALS)
    history.add(
        [
            Reading(
                subject=subject, quantity=name, value=value, unit=UNITS[name], at=1.0, state=State.UNKNOWN if value is None else State.GOOD
            )
            for subject, name, value in told
        ],
        60.0,
    )
    return find_vitals(history.view(2.0, VITALS), "n0", "up")


def test_power_is_the_sum_of_all_its_cards_and_the_hottest_die_counts() -> None:
    cards = [("n0/card0", "card.power", 300.0), ("n0/card1", "card.power", 310.5), ("n1/card0", "card.power", 900.0)]
    heat = [("n0/card0", "card.temperature", 61.0), ("n0/card1", "card.temperature", 72.0), ("n1/card0", "card.temperature", 99.0)]
    assert tell(*cards, *heat, ("job/a", "job.step", 7.0), ("job/b", "job.step", 9.0)) == Vitals(power=610.5, hottest=72.0, step=9)


def test_what_is_not_known_whole_is_not_told() -> None:
    assert tell(("n0/card0", "card.power", 300.0), ("n0/card1", "card.power", None), ("n0/card1", "card.temperature", None)) == Vitals()
