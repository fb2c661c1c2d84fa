"""Who reports of which card: what tells a card that is gone from a source that cannot be read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from supernoded.plugin import State, View

PRESENT = "card.present"
METRICS = (PRESENT, "card.temperature", "card.power", "card.utilisation", "card.memory_used")  # a card that is there has some of these
WINDOW = 900.0  # seconds; three polls of five minutes


def list_cards(seen: View, node: str) -> list[str]:
    """Every card of a node of which anything was read: a daemon may read other nodes' BMCs, too, and theirs are not its own."""
    return sorted({card for quantity in METRICS for card in seen.subjects(quantity) if card.startswith(f"{node}/")})


def list_sources(seen: View, card: str) -> list[str]:
    """Who has ever read one of its metrics."""
    return sorted({source for quantity in METRICS for source in seen.sources(quantity, card)})


def answers(seen: View, card: str, sources: Iterable[str] | None = None) -> bool:
    """Whether something of it is read now, by one of these sources; a presence of 0 is no answer."""
    wanted = list_sources(seen, card) if sources is None else sources
    return any(
        reading.value is not None and not (quantity == PRESENT and reading.value == 0)
        for source in wanted
        for quantity in METRICS
        if (reading := seen.good(quantity, card, source)) is not None
    )


def count_misses(seen: View, card: str, source: str) -> int:
    """How many looks in a row a source had without a word of a card; 0 where it had none at all."""
    looks: dict[float, bool] = {}
    for quantity in METRICS:
        for reading in seen.window(quantity, card, source):
            looks[reading.at] = looks.get(reading.at, False) or reading.state is State.GOOD
    missed = 0
    for at in sorted(looks, reverse=True):
        if looks[at]:
            return missed
        missed += 1
    return missed


def count_looks(seen: View, card: str) -> int:
    """How many looks had a word of a card, by the source that had most."""
    readings = [seen.window(quantity, card, source) for source in list_sources(seen, card) for quantity in METRICS]
    return max((sum(reading.state is State.GOOD for reading in series) for series in readings), default=0)


def measure_age(seen: View, cards: Sequence[str]) -> float:
    """For how many seconds at least these have been reported, within the window."""
    series = (seen.window(quantity, card, source) for card in cards for source in list_sources(seen, card) for quantity in METRICS)
    return max((seen.now - readings[0].at for readings in series if readings), default=0.0)


def find_reason(seen: View, card: str) -> str:
    """Why nothing is read of it, as its sources say."""
    notes = {
        reading.note or reading.state.value
        for source in list_sources(seen, card)
        for quantity in METRICS
        if (reading := seen.newest(quantity, card, source)) is not None and reading.state is not State.GOOD
    }
    return "; ".join(sorted(notes)[:2]) or "nothing was read"
