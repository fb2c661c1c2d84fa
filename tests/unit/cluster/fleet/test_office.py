"""Want and answer on their way between two nodes."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from supernoded.cluster.commands.words import Command, Reply
from supernoded.cluster.fleet.breakers import Want
from supernoded.cluster.fleet.grants import Answer
from supernoded.cluster.fleet.office import LONGEST_GRANT, answer_want, ask_holder
from supernoded.errors import RefusedError, WireError

WANT = Want(subject="n1/card3", cause="silent", incident="i1", owner="isolation", kind="card.hold")


class Grantor:
    """Says what a test wants."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.wants = answer, list[Want]()

    async def grant(self, want: Want) -> Answer:
        self.wants.append(want)
        return self.answer


class Way:
    """A commander whose commands come straight to the other's grantor, or to what a test says instead."""

    def __init__(self, grantor: Grantor, instead: Mapping[str, str] | None = None) -> None:
        self.grantor, self.instead = grantor, instead

    async def ask(self, node: str, verb: str, *, details: Mapping[str, str]) -> Reply:
        assert (node, verb) == ("n0", "grant")
        if self.instead is not None:
            return Reply(command="c", node=node, ok=True, details=self.instead)
        return await answer_want(self.grantor, ("n0", "n1"), make_command(details))  # type: ignore[arg-type] # a stand-in


def make_command(details: Mapping[str, str]) -> Command:
    return Command(
        id="n1/1",
        cluster="c0",
        sender="n1",
        life="l",
        number=1,
        to="n0",
        issued=1.0,
        expires=4.0,
        scope="node",
        epoch=0,
        verb="grant",
        details=details,
    )


async def ask(grantor: Grantor, roles: Mapping[str, str], instead: Mapping[str, str] | None = None) -> Answer:
    way: Any = Way(grantor, instead)
    return await ask_holder(way, SimpleNamespace(roles=roles), WANT)


async def test_a_want_comes_whole_to_the_holder_and_its_answer_back() -> None:
    grantor = Grantor(Answer(granted=True, text="granted for 30 s", seconds=29.5))
    assert await ask(grantor, {"fleet": "n0"}) == grantor.answer
    assert grantor.wants == [WANT]


async def test_a_refusal_names_who_refuses() -> None:
    answer = await ask(Grantor(Answer(granted=False, text="4 cards are out")), {"fleet": "n0"})
    assert answer == Answer(granted=False, text="n0, which has the role fleet, refuses: 4 cards are out")


async def test_where_nobody_has_the_role_nobody_is_asked() -> None:
    with pytest.raises(WireError, match="nobody is known to have the role fleet"):
        await ask(Grantor(Answer(granted=True, text="", seconds=1.0)), {"spares": "n0"})


@pytest.mark.parametrize("seconds", ["", "soon", "1e5000x"])
async def test_an_answer_that_makes_no_sense_grants_nothing(seconds: str) -> None:
    with pytest.raises(WireError, match="run one version on all nodes"):
        await ask(Grantor(Answer(granted=True, text="")), {"fleet": "n0"}, {"granted": "yes", "seconds": seconds})


@pytest.mark.parametrize(("seconds", "counts"), [("1e300", LONGEST_GRANT), ("inf", LONGEST_GRANT), ("-5", 0.0), ("nan", 0.0)])
async def test_no_grant_is_longer_than_any_may_be(seconds: str, counts: float) -> None:
    answer = await ask(Grantor(Answer(granted=True, text="")), {"fleet": "n0"}, {"granted": "yes", "seconds": seconds})
    assert answer.seconds == counts


@pytest.mark.parametrize("details", [{}, {"subject": "n1"}, {"subject": "n1", "cause": "x", "incident": "i"}])
async def test_what_is_no_want_is_refused(details: Mapping[str, str]) -> None:
    with pytest.raises(RefusedError, match="not a want"):
        await answer_want(Grantor(Answer(granted=True, text="")), ("n0", "n1"), make_command(details))  # type: ignore[arg-type] # a stand-in


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"subject": "n9/card3"}, "'n9/card3' is on no node of the topology"),
        ({"subject": ""}, "'' is on no node"),
        ({"incident": "i" * 201}, "one of its words has 201 characters, at most 200"),
        ({"cause": "c" * 201}, "one of its words has 201 characters"),
    ],
)
async def test_what_would_fill_the_book_is_refused(more: Mapping[str, str], words: str) -> None:
    grantor = Grantor(Answer(granted=True, text="", seconds=1.0))
    details = {"subject": "n1/card3", "cause": "x", "incident": "i", "owner": "o"}
    assert (await answer_want(grantor, ("n0", "n1"), make_command(details))).details["granted"] == "yes"  # type: ignore[arg-type] # a stand-in
    with pytest.raises(RefusedError, match=words):
        await answer_want(grantor, ("n0", "n1"), make_command({**details, **more}))  # type: ignore[arg-type] # a stand-in
    assert len(grantor.wants) == 1
