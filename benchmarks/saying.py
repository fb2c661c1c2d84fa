"""What one node tells of itself in a digest: eight cards that train as ranks of one job, and the machine around them."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measuring import CARDS
from supernoded.model import Reading, Value

# What is read of each card, of the rank that runs on it, and of the node, by the sensors of which plugin.
OF_CARD: tuple[tuple[str, Value, str, str], ...] = (
    ("card.health", frozenset({"ok"}), "flags", "ascend.cards"),
    ("card.present", 1.0, "1", "ascend.cards"),
    ("card.serial", "SN{index}-{card}", "text", "ascend.cards"),
    ("card.temperature", 61.0, "C", "ascend.cards"),
    ("card.power", 310.0, "W", "ascend.cards"),
    ("card.utilisation", 97.0, "%", "ascend.cards"),
    ("card.memory_used", 5.9e10, "B", "ascend.cards"),
    ("card.errors_corrected", 3.0, "1", "ascend.errors"),
    ("card.errors_uncorrected", 0.0, "1", "ascend.errors"),
)
OF_RANK: tuple[tuple[str, Value, str, str], ...] = (
    ("rank.step", 4711.0, "1", "job"),
    ("rank.step_time", 1.31, "s", "job"),
    ("rank.beat_age", 0.4, "s", "job"),
    ("rank.state", "running", "text", "job"),
    ("rank.card", "{node}/card{card}", "text", "job"),
)
OF_NODE: tuple[tuple[str, Value, str, str], ...] = (
    ("host.hog", "", "text", "host"),
    ("host.load", 9.5, "1", "host"),
    ("host.memory_used", 41.0, "%", "host"),
)


def say(node: str, index: int) -> list[Reading]:
    """All of it, for the node that is the site's `index`-th."""
    return list(_say(node, index))


def _say(node: str, index: int) -> Iterator[Reading]:
    yield from (_make(node, *one) for one in OF_NODE)
    for card in range(CARDS):
        places = {"node": node, "index": index, "card": card}
        for subject, kinds in ((f"{node}/card{card}", OF_CARD), (f"job/train/rank{index * CARDS + card}", OF_RANK)):
            for quantity, value, unit, source in kinds:
                yield _make(subject, quantity, value.format(**places) if isinstance(value, str) else value, unit, source)


def _make(subject: str, quantity: str, value: Value, unit: str, source: str) -> Reading:
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=0.0, source=source)
