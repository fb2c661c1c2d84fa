"""What launchers read."""

from __future__ import annotations

import msgspec

from supernoded.cards.roster import Roster, RosterFile, make_roster
from supernoded.cards.subjects import list_all_cards, list_cards
from supernoded.testing import MemoryTree
from supernoded.topology import Spare, Supernode, Topology
from supernoded.wire import Pen
from tests.unit.cards.rooms import make_hold

CARDS = ("n0/card0", "n0/card1", "n0/card2")


def make(held: str = "", fenced: str = "") -> Roster:
    return make_roster(
        "n0",
        CARDS,
        serial=lambda card: f"SN-{card}",
        holds=lambda card: (make_hold(subject=card),) if card == held else (),
        fenced={fenced: "no beat"} if fenced else {},
        spares=["n0/card2", "n1/card7"],
    )


def test_what_is_held_or_fenced_is_not_usable() -> None:
    roster = make(held="n0/card0", fenced="n0/card1")
    assert [(card.slot, card.usable, card.spare, card.why) for card in roster.cards] == [
        (0, False, False, "held by supernoded_isolation: no beat"),
        (1, False, False, "fenced and not released: no beat"),
        (2, True, True, ""),
    ]
    assert roster.env == {"ASCEND_RT_VISIBLE_DEVICES": "2", "CUDA_VISIBLE_DEVICES": "2"}
    assert make().env["CUDA_VISIBLE_DEVICES"] == "0,1,2"


async def test_it_is_written_only_when_it_is_news_or_gone() -> None:
    tree = MemoryTree("/run", Pen(lambda _: None))
    file = RosterFile(tree)
    await file.write(make())
    first = tree.files["cards.json"]
    assert isinstance(first, str)
    assert msgspec.json.decode(first, type=Roster) == make()
    tree.files["cards.json"] = "by another hand"
    await file.write(make())
    assert tree.files["cards.json"] == "by another hand"
    del tree.files["cards.json"]
    await file.write(make())
    assert tree.files["cards.json"] == first
    await file.write(make(held="n0/card0"))
    assert tree.files["cards.json"] != first


def test_spares_are_cards_too_wherever_they_are_described() -> None:
    site = Topology(
        nodes=(Supernode(name="n0", cards=2), Supernode(name="n1", cards=1)), spares=(Spare(card="n0/card7"), Spare(card="n2/card0"))
    )
    assert list_cards(site, "n0") == ("n0/card0", "n0/card1", "n0/card7")
    assert list_all_cards(site) == ("n0/card0", "n0/card1", "n0/card7", "n1/card0", "n2/card0")
