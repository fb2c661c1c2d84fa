"""One incident of the right thing: a card alone, its node, or the loop that nodes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.history import History
from supernoded.model import NODE, Level, Reading, Severity, Value, Verdict
from supernoded_thermal.node.heat import Group, HeatRule
from supernoded_thermal.node.hot import HeatMemory
from supernoded_thermal.node.settings import NodeSettings
from tests.plugins.thermal.node.room import read

NODES = {node: tuple(f"{node}/card{slot}" for slot in range(4)) for node in ("n0", "n1", "n2")}
CARDS = tuple(card for cards in NODES.values() for card in cards)
LOOP = HeatRule(Group("cdu/0", "cdu/0", NODES, 22.0), NodeSettings())
ALONE = HeatRule(Group(NODE, "", {"n0": NODES["n0"]}, 22.0), NodeSettings())
LOOKS = 4  # enough for what is hot to be told

Temperatures = Mapping[str, Value]


class Play:
    """A rule asked again and again."""

    def __init__(self, rule: HeatRule) -> None:
        self.rule, self.now, self.memory = rule, 0.0, rule.start()
        self.history = History(rule.watches)

    def see(
        self, hot: Temperatures, *, looks: int = LOOKS, usual: Value = 58.0, watts: float = 550.0, more: Sequence[Reading] = ()
    ) -> dict[str, Verdict]:
        """The last words after so many looks, 10 s apart, at these cards; others are at their usual."""
        found: dict[str, Verdict] = {}
        for _ in range(looks):
            self.now += 10.0
            for node, cards in self.rule._group.nodes.items():
                for card in cards:
                    self.history.add([read(card, "card.temperature", hot.get(card, usual), self.now, source=node)], 25.0)
                    self.history.add([read(card, "card.power", watts, self.now, source=node)], 25.0)
            self.history.add([msgspec.structs.replace(one, at=self.now) for one in more], 25.0)
            self.memory, verdicts = self.rule.judge(self.history.view(self.now, self.rule.watches), self.memory)
            assert len({verdict.subject for verdict in verdicts}) == len(verdicts)
            found = {verdict.subject: verdict for verdict in verdicts}
        return found


def raised(found: Mapping[str, Verdict]) -> list[str]:
    return [subject for subject, verdict in found.items() if verdict.level is Level.RAISED]


def at(celsius: float, *cards: str) -> dict[str, Value]:
    return dict.fromkeys(cards, celsius)


@pytest.mark.parametrize(
    ("hot", "things"),
    [
        ({}, []),
        (at(84.0, "n0/card3"), []),
        (at(87.0, "n0/card3"), ["n0/card3"]),
        (at(87.0, "n0/card3", "n1/card3"), ["n0/card3", "n1/card3"]),
        (at(87.0, "n0/card3", "n0/card1"), ["n0"]),
        (at(87.0, *NODES["n0"]), ["n0"]),
        (at(87.0, *NODES["n0"], "n1/card0"), ["n0", "n1/card0"]),
        (at(87.0, *NODES["n0"], *NODES["n1"]), ["cdu/0"]),
        (at(87.0, *CARDS), ["cdu/0"]),
    ],
)
def test_the_right_thing(hot: Temperatures, things: list[str]) -> None:
    assert raised(Play(LOOP).see(hot)) == things


def test_a_warm_or_still_loop_is_what_is_wrong_with_its_only_hot_node() -> None:
    hot = at(87.0, *NODES["n0"])
    one = HeatRule(Group("cdu/0", "cdu/0", {"n0": NODES["n0"]}, 22.0), NodeSettings())
    assert raised(Play(one).see(hot)) == ["n0"]
    assert raised(Play(one).see(hot, more=[read("cdu/0", "coolant.supply_temperature", 22.4)])) == ["n0"]
    warm = Play(one).see(hot, more=[read("cdu/0", "coolant.supply_temperature", 31.0)])
    assert raised(warm) == ["cdu/0"]
    assert "its supply is at 31.0 C where 22 C are held" in warm["cdu/0"].text
    assert "it does not flow" in Play(one).see(hot, more=[read("cdu/0", "coolant.flow", 0.0)])["cdu/0"].text


def test_without_a_loop_it_is_the_node_and_nothing_more() -> None:
    assert raised(Play(ALONE).see(at(87.0, *NODES["n0"]))) == ["n0"]
    assert (ALONE.scope, LOOP.scope) == (NODE, "cdu/0")


def test_the_sentence_has_value_limit_and_what_to_do() -> None:
    verdict = Play(LOOP).see(at(87.0, "n0/card3"))["n0/card3"]
    assert verdict.severity is Severity.WARNING
    assert verdict.text == (
        "n0/card3 is at 87.0 C, 85 C is the limit, 29 K hotter than its peers would be at its 550 W, "
        "alone among its peers: cap its node's power, and look at its cold plate"
    )
    node = Play(LOOP).see(at(93.0, "n0/card3", "n0/card1"))["n0"]
    assert node.severity is Severity.CRITICAL
    assert "2 of 4 cards of n0 are hot (card1, card3), card1 at 93.0 C, 85 C is the limit" in node.text


def test_what_may_be_a_nodes_heat_waits_a_moment_and_what_is_critical_does_not() -> None:
    play = Play(LOOP)
    assert raised(play.see(at(87.0, "n0/card3"), looks=1)) == []
    assert raised(play.see(at(87.0, *NODES["n0"]), looks=1)) == ["n0/card3"]
    assert raised(play.see(at(87.0, *NODES["n0"]), looks=1)) == ["n0"]
    assert raised(Play(LOOP).see(at(93.0, "n0/card3"), looks=1)) == ["n0/card3"]


def test_a_rise_is_foretold_before_the_limit() -> None:
    play = Play(LOOP)
    for celsius in (66.0, 70.0, 74.0, 78.0, 82.0):
        found = play.see(at(celsius, "n0/card3"), looks=1)
    assert raised(found) == ["n0/card3"]
    assert "rising by 0.40 K/s and in 32 s at 95 C, where it slows down" in found["n0/card3"].text


def test_it_does_not_flap_around_the_limit_nor_when_a_cap_has_cooled_it() -> None:
    play = Play(LOOP)
    play.see(at(87.0, "n0/card3"))
    for celsius in (84.0, 82.0, 86.0, 81.5):
        assert raised(play.see(at(celsius, "n0/card3"), looks=1)) == ["n0/card3"]
    capped = play.see(at(72.0, "n0/card3"), usual=43.0, watts=300.0)
    assert raised(capped) == ["n0/card3"]
    assert "and at its former power it would be at 87 C again" in capped["n0/card3"].text
    assert raised(play.see(at(45.0, "n0/card3"), usual=43.0, watts=300.0)) == []
    assert raised(play.see(at(80.0, "n0/card3"), looks=1)) == []


def test_who_cannot_be_seen_is_unsure_and_stays_hot_when_it_was() -> None:
    play = Play(LOOP)
    play.see(at(87.0, "n0/card3"))
    blind = play.see({"n0/card3": None}, looks=8)
    assert blind["n0/card3"].level is Level.UNSURE
    assert "it was hot when it was last seen" in blind["n0/card3"].text
    assert raised(play.see(at(86.0, "n0/card3"), looks=1)) == ["n0/card3"]
    nobody = Play(LOOP).see({}, usual=None)
    assert {nobody[node].level for node in NODES} == {Level.UNSURE}
    assert "card.temperature of n1/card0" in nobody["n1"].text


def test_a_mad_sensor_is_no_heat() -> None:
    found = Play(LOOP).see(at(150.0, "n0/card3"))
    assert raised(found) == []
    assert found["n0/card3"].level is Level.UNSURE
    voted = Play(LOOP).see(at(150.0, "n0/card3"), more=[read("n0/card3", "card.temperature.median", 55.0)])
    assert raised(voted) == []
    assert "it is voted out" in voted["n0/card3"].text


@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.sampled_from(CARDS), st.floats(-50.0, 150.0) | st.none()), min_size=1, max_size=6))
def test_a_thing_and_what_is_in_it_are_never_raised_together(looks: list[Temperatures]) -> None:
    play = Play(LOOP)
    for hot in looks:
        found = play.see(hot, looks=1)
        names = set(raised(found))
        assert not names & {subject.partition("/")[0] for subject in names if "/card" in subject}
        assert "cdu/0" not in names or not any(name.startswith("n") for name in names)
        assert set(found) == {"cdu/0", *NODES, *CARDS}
        assert msgspec.json.decode(msgspec.json.encode(play.memory), type=HeatMemory) == play.memory


def test_a_loop_is_judged_by_the_setpoint_that_it_holds() -> None:
    """A humid hall lifts it: a supply that is where it is held is no trouble of the loop."""
    hot = at(90.0, *NODES["n0"])
    supply = read("cdu/0", "coolant.supply_temperature", 26.0)
    one = HeatRule(Group("cdu/0", "cdu/0", {name: NODES[name] for name in ("n0", "n1")}, 22.0), NodeSettings())
    assert raised(Play(one).see(hot, more=[supply])) == ["cdu/0"]
    assert raised(Play(one).see(hot, more=[supply, read("cdu/0", "coolant.setpoint", 25.5)])) == ["n0"]
