"""Which rank runs on which card, in the forms that launchers read: HCCL rank table, hostfile, JSON. Pure.

All take the card of each rank as a subject, `n0/card3`; the ranks have to be 0 to world - 1, each on a card of its own (H9).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

CARD = re.compile(r"(?P<node>[^/\s]+)/card(?P<device>0|[1-9][0-9]{0,4})", re.ASCII)
MOST_NAMED = 8  # ranks that a sentence names


class _Place(NamedTuple):
    rank: int
    node: str
    device: int
    card: str


def check_map(cards: Mapping[int, str], world: int = 0) -> tuple[str, ...]:
    """What is wrong with a map, a sentence each. `world` 0 = as many ranks as the highest says."""
    most = world or max(cards, default=-1) + 1
    if most <= 0:
        return ("There are no ranks.",)
    beyond = [rank for rank in sorted(cards) if not 0 <= rank < most]
    missing = most - len(cards) + len(beyond)
    first = [rank for rank in range(min(most, len(cards) + MOST_NAMED)) if rank not in cards]
    odd = [rank for rank, card in sorted(cards.items()) if CARD.fullmatch(card) is None]
    by_card: dict[str, list[int]] = {}
    for rank in sorted(cards):
        by_card.setdefault(cards[rank], []).append(rank)
    return (
        *([f"No card is known of {_name(first, missing)} of {most}."] if missing else []),
        *([f"There can be no {_name(beyond)} among {most} ranks."] if beyond else []),
        *(f"Rank {rank} is on {cards[rank][:60]!r}, which is no card such as n0/card3." for rank in odd[:MOST_NAMED]),
        *(
            f"{_name(ranks).capitalize()} are all on {card}; each needs a card of its own."
            for card, ranks in by_card.items()
            if len(ranks) > 1
        ),
    )


def to_json(cards: Mapping[int, str], world: int = 0) -> str:
    """The map as JSON: `{"world": 2, "ranks": [{"rank": 0, "card": "n0/card3", "node": "n0", "device": 3}, ...]}`.

    Raises:
        ValueError: a rank is missing, or two are on one card
    """
    ranks = [place._asdict() for place in _list_places(cards, world)]
    return json.dumps({"world": len(ranks), "ranks": ranks}, indent=2) + "\n"


def to_hccl(cards: Mapping[int, str], addresses: Mapping[str, str], world: int = 0) -> str:
    """The map as an HCCL rank table of version 1.0, all values strings.

    Args:
        cards: by rank
        addresses: of each card (`n0/card3`), the address of its own network port; of a node (`n0`) the address it is known by, where it
            is not known by its name
        world: how many ranks there are to be, 0 = as the map says

    Raises:
        ValueError: a rank is missing, two are on one card, or a card's address is not known
    """
    places = _list_places(cards, world)
    unknown = [place.card for place in places if not addresses.get(place.card)]
    if unknown:
        few = ", ".join(unknown[:MOST_NAMED]) + (f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else "")
        raise ValueError(f"An HCCL rank table needs the network address of every card, and none is known of {few}; give them.")
    servers: dict[str, list[dict[str, str]]] = {}
    for place in places:
        device = {"device_id": str(place.device), "device_ip": addresses[place.card], "rank_id": str(place.rank)}
        servers.setdefault(place.node, []).append(device)
    table = {
        "version": "1.0",
        "server_count": str(len(servers)),
        "server_list": [{"server_id": addresses.get(node, node), "device": devices} for node, devices in servers.items()],
        "status": "completed",
    }
    return json.dumps(table, indent=2) + "\n"


def to_hostfile(cards: Mapping[int, str], world: int = 0, devices: str = "CUDA_VISIBLE_DEVICES") -> str:
    """The map as a hostfile: a line `n0 slots=8` a node, in the order of the ranks, and before it a comment on which of its cards they see.

    Slots of one host are added up wherever they stand. So where the ranks of a node do not follow each other, such as round a spare on
    another node, there is a line a rank, to be read in sequence (Open MPI: `--map-by seq`).

    Raises:
        ValueError: a rank is missing, or two are on one card
    """
    places = _list_places(cards, world)
    runs = [tuple(run) for _, run in groupby(places, key=lambda place: place.node)]
    if len(runs) == len({place.node for place in places}):
        return "".join(_write_line(run, devices) for run in runs)
    head = "# Ranks of a node do not follow each other: a line a rank, to be read in sequence (Open MPI: --map-by seq).\n"
    return head + "".join(_write_line((place,), devices) for place in places)


def _write_line(run: Sequence[_Place], devices: str) -> str:
    ranks = f"rank {run[0].rank}" if len(run) == 1 else f"ranks {run[0].rank}-{run[-1].rank}"
    return f"# {ranks}: {devices}={','.join(str(place.device) for place in run)}\n{run[0].node} slots={len(run)}\n"


def _list_places(cards: Mapping[int, str], world: int) -> list[_Place]:
    """In the order of the ranks. Raises ValueError for a map that is not whole."""
    if faults := check_map(cards, world):
        raise ValueError(" ".join(faults))
    return [_place(rank, cards[rank]) for rank in sorted(cards)]


def _place(rank: int, card: str) -> _Place:
    node, _, device = card.partition("/card")
    return _Place(rank, node, int(device), card)


def _name(ranks: Sequence[int], count: int = 0) -> str:
    """`rank 3`, `ranks 3, 4 and 12 more`."""
    count, few = count or len(ranks), ranks[:MOST_NAMED]
    more = f" and {count - len(few)} more" if count > len(few) else ""
    return f"rank{'' if count == 1 else 's'} {', '.join(str(rank) for rank in few)}{more}"
