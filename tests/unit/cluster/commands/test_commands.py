from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster.commands.flood import AT_ONCE, PER_SECOND, Flood
from supernoded.cluster.commands.words import LONGEST, Command, Reply, answer_to, find_fault, find_right, read_command, read_reply, shift
from supernoded.errors import SealError
from supernoded.model import NODE, Action, Step

NOW = 1_800_000_000.0


def make(**more: Any) -> Command:
    fields: dict[str, Any] = {
        "id": "n0/7",
        "cluster": "c0",
        "sender": "n0",
        "life": "life1",
        "number": 7,
        "to": "n1",
        "issued": NOW,
        "expires": NOW + 3.0,
        "scope": NODE,
        "epoch": 0,
        "verb": "apply",
    }
    return Command(**fields | more)


def make_action(scope: str = NODE, epoch: int = 0) -> Action:
    step = Step(name="s", kind="card.isolate", target="n1/card3", reason="it is silent")
    return Action(id="i/s", step=step, incident="i", scope=scope, epoch=epoch, issued=100.0, deadline=110.0)


def body(word: msgspec.Struct) -> str:
    return msgspec.json.encode(word).decode()


@given(st.floats(1.6e9, 4e9))
def test_the_longest_is_not_too_long(now: float) -> None:
    assert find_fault(make(issued=now, expires=now + LONGEST), "n1", "c0", now) == ""


def test_both_ways_through_json() -> None:
    command = make(action=make_action(), details={"a": "b"})
    assert read_command(body(command), "n0") == command
    reply = answer_to(command, "done", details={"c": "d"})
    assert read_reply(body(reply), "n1") == reply


@given(st.text())
def test_garbage_is_refused(text: str) -> None:
    with pytest.raises(SealError, match="no command"):
        read_command(text, "n0")
    with pytest.raises(SealError, match="no answer"):
        read_reply(text, "n0")


def test_a_command_is_no_answer_nor_an_answer_a_command() -> None:
    command = make()
    with pytest.raises(SealError, match="no answer"):
        read_reply(body(command), "n0")
    with pytest.raises(SealError, match="no command"):
        read_command(body(answer_to(command)), "n1")


def test_whoever_seals_it_is_its_sender() -> None:
    with pytest.raises(SealError, match="says that n0 sends it, it is sealed by n9") as caught:
        read_command(body(make()), "n9")
    assert caught.value.sender == "n9"
    with pytest.raises(SealError, match="says that n1 gives it, it is sealed by n9"):
        read_reply(body(answer_to(make())), "n9")


@pytest.mark.parametrize("field", ["id", "scope"])
def test_an_id_without_end(field: str) -> None:
    with pytest.raises(SealError, match="has 129 characters, at most 128"):
        read_command(body(make(**{field: "x" * 129})), "n0")


def test_nothing_is_wrong_with_a_fresh_one() -> None:
    assert find_fault(make(action=make_action()), "n1", "c0", NOW + 1.0) == ""


@pytest.mark.parametrize(
    ("more", "now", "words"),
    [
        ({"to": "n2"}, NOW, "it is for n2 of cluster c0, this is n1 of c0"),
        ({"cluster": "c9"}, NOW, "it is for n1 of cluster c9"),
        ({}, NOW + 6.0, "it ran out 3.0 s ago: n0's clock said 1800000000.0, this node's says 1800000006.0"),
        ({}, NOW - 3.0, "it was issued 3.0 s in the future: n0's clock said 1800000000.0, this node's says 1799999997.0"),
        ({"expires": NOW + LONGEST + 1.0}, NOW, "it is to live for 61.0 s, at most 60 are taken"),
        ({"expires": NOW - 1.0}, NOW, "it is to live for -1.0 s"),
        ({"details": {str(i): "" for i in range(65)}}, NOW, "it has 65 details, at most 64"),
        ({"action": make_action("spares", 3)}, NOW, "its action is of spares at epoch 3, the command is not"),
    ],
)
def test_what_is_wrong(more: dict[str, Any], now: float, words: str) -> None:
    assert words in find_fault(make(**more), "n1", "c0", now)


@given(st.floats(-1.9, 4.9))
def test_clocks_may_differ_by_two_seconds(off: float) -> None:
    assert find_fault(make(), "n1", "c0", NOW + off) == ""


@given(issued=st.floats(), expires=st.floats(), now=st.floats(0, 1e12))
def test_no_number_is_too_odd_for_a_sentence(issued: float, expires: float, now: float) -> None:
    found = find_fault(make(issued=issued, expires=expires), "n1", "c0", now)
    assert found or (issued <= now + 2.0 and now <= expires + 2.0 and 0.0 < expires - issued <= LONGEST + 0.001)


@pytest.mark.parametrize(
    ("scope", "said", "holder", "known", "words"),
    [
        (NODE, 0, "n5", 9, ""),  # a node speaks for itself
        ("spares", 4, "n0", 4, ""),
        ("spares", 0, "n0", 0, ""),  # a fixed seat
        ("spares", 4, None, 0, ""),  # nobody is known to have it
        ("spares", 5, "n5", 4, ""),  # it has got it since
        ("spares", 4, "n5", 4, "spares is held by n5 at epoch 4, not by n0"),
        ("spares", 0, "n5", 0, "spares is held by n5 at epoch 0, not by n0"),
        ("spares", 3, "n0", 4, "spares is at epoch 4, the command is of epoch 3: n0 has lost the role"),
        ("spares", 3, None, 4, "n0 has lost the role"),
    ],
)
def test_who_may_speak_for_a_scope(scope: str, said: int, holder: str | None, known: int, words: str) -> None:
    found = find_right(make(scope=scope, epoch=said), holder, known)
    assert (words in found) if words else found == ""


@pytest.mark.parametrize("epoch", [0, 1, 2**40])
def test_a_seat_that_the_settings_fix_is_not_won_by_an_epoch(epoch: int) -> None:
    """Else any node could speak for it with one more than none, and its holder would count as one who has lost it."""
    assert find_right(make(scope="spares", epoch=epoch), "n5", 0, fixed=True) == "spares is given to n5 by the settings, not to n0"
    assert find_right(make(scope="spares", epoch=0), "n0", epoch, fixed=True) == ""


def test_times_are_moved_there_and_back() -> None:
    action = make_action()
    moved = shift(action, 50.0)
    assert moved is not None
    assert (moved.issued, moved.deadline) == (150.0, 160.0)
    assert shift(moved, -50.0) == action
    assert shift(None, 50.0) is None


def test_a_flood_is_stemmed_for_its_sender_alone() -> None:
    flood = Flood()
    assert sum(flood.let_in("n0", 0.0) for _ in range(1000)) == AT_ONCE
    assert flood.let_in("n1", 0.0)
    assert sum(flood.let_in("n0", 1.0) for _ in range(1000)) == PER_SECOND
    assert not flood.is_calm("n0")
    assert sum(flood.let_in("n0", 0.5) for _ in range(10)) == 0  # a clock that goes back gives nothing
    assert flood.let_in("n0", 3.0)
    assert flood.is_calm("n0")
    assert flood.is_calm("n9")


def test_a_reply_says_which_command_it_answers() -> None:
    assert answer_to(make()) == Reply(command="n0/7", node="n1", ok=True)
