"""The network falls apart while a card is being replaced, in any shape and at any moment of that, for longer than anything is retried."""

from __future__ import annotations

from pathlib import Path

from tests.chaos.card_judging import FAILS_AT
from tests.chaos.card_site import VICTIM
from tests.chaos.card_spares import Blow
from tests.chaos.card_storm import DAEMONS, OUTAGE, Aftermath, play_storm
from tests.chaos.partitions import Sides, list_shapes

SHAPES = (*list_shapes(2, DAEMONS), *list_shapes(3, DAEMONS))
BEGINS, WINDOW = FAILS_AT + 8.0, 24.0  # s: from when the fault begins to show until the job steps again
ENDS = 420.0  # virtual seconds: the network has been whole for so long that probations and ways back are over


def find_moment(shape: Sides) -> float:
    """When the cut of a shape comes, each at another moment of the saga."""
    return BEGINS + WINDOW * ((SHAPES.index(shape) * 7) % len(SHAPES)) / len(SHAPES)


def play_cut(folder: Path, shape: Sides, seed: int = 7) -> Aftermath:
    """Play one shape in a fresh folder."""
    at = find_moment(shape)
    groups = " | ".join(" ".join(side) for side in shape)
    hang = Blow(FAILS_AT, FAILS_AT + 1.5 * OUTAGE, "card.hang", VICTIM, {})
    return play_storm(folder, seed, [hang, Blow(at, at + OUTAGE, "net.partition", "network", {"groups": groups})], ENDS)
