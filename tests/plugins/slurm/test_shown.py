"""What scontrol prints of a node, in its odd shapes too, and our own reasons on it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Effect, WireError
from supernoded_slurm.judging import see_drain, see_release
from supernoded_slurm.reasons import MOST_OWNERS, MOST_TEXT, name_owner, read_owners, read_text, write_reason
from supernoded_slurm.shown import Shown, read_shown

LINE = "NodeName=w7 Arch=aarch64 OS=Linux 5.10.0 #1 SMP Mon Jan 5 State={state} ThreadsPerCore=1 Partitions=train{rest}\n"


def show(state: str, rest: str = "") -> Shown:
    return read_shown(LINE.format(state=state, rest=rest), "w7")


@pytest.mark.parametrize(
    ("state", "drained"),
    [
        ("IDLE", False),
        ("IDLE+DRAIN", True),
        ("ALLOCATED+DRAIN", True),
        ("MIXED+DRAIN+PLANNED", True),
        ("DOWN*", False),
        ("DOWN*+DRAIN", True),
        ("IDLE+DRAIN*", True),
        ("idle~+drain#", True),
        ("DRAINED*", True),
        ("DRAINING@", True),
        ("IDLE+CLOUD+POWERED_DOWN", False),
        ("UNDRAIN", False),
    ],
)
def test_a_state_is_its_words_whatever_marks_are_behind_them(state: str, drained: bool) -> None:
    assert show(state).drained is drained


@pytest.mark.parametrize(
    ("rest", "reason", "by"),
    [
        ("", "", ""),
        (" Reason=none", "", ""),
        (" Reason=fan 3 [alice@2026-01-02T03:04:05]", "fan 3", "alice"),
        (" Reason=State=IDLE soon [root@2026-01-02T03:04:05] Comment=State=DOWN", "State=IDLE soon", "root"),
        (" Reason=no stamp here Comment=x", "no stamp here", ""),
        (" Reason=supernoded: i1 hot [slurm@Unknown]", "supernoded: i1 hot", "slurm"),
    ],
)
def test_a_reason_is_read_with_who_set_it(rest: str, reason: str, by: str) -> None:
    shown = show("IDLE", rest)
    assert (shown.state, shown.reason, shown.by) == ("IDLE", reason, by)


def test_a_node_on_many_lines_is_the_same() -> None:
    text = (
        "NodeName=w7 Arch=aarch64 \n   OS=Linux\n   State=MIXED+DRAIN Weight=1\n   Reason=disk [bob@2026-01-02T03:04:05]\n   Comment=x\n\n"
    )
    assert read_shown(text, "w7") == Shown(state="MIXED+DRAIN", reason="disk", by="bob")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Node w7 not found\n", "Slurm knows no node w7: Node w7 not found; give its name under"),
        ("", "said nothing of w7 that can be read: not a word"),
        ("NodeName=w7 Arch=x", "said nothing of w7"),
        ("NodeName=w8 State=IDLE", "was asked for w7 and told of w8"),
    ],
)
def test_what_says_nothing_is_named(text: str, said: str) -> None:
    with pytest.raises(WireError, match=said):
        read_shown(text, "w7")


@given(st.one_of(st.text(), st.text(alphabet="NodeName=w7 State=Reason[@]\n", max_size=300)))
def test_no_text_is_too_much(text: str) -> None:
    for garbage in (text, f"NodeName=w7 State={text}", LINE.format(state="IDLE", rest=f" Reason={text}")):
        try:
            shown = read_shown(garbage, "w7")
        except WireError:
            continue
        assert shown.state
        assert see_drain("w7", shown, "i1").effect in Effect


def test_megabytes_of_garbage_are_cut() -> None:
    assert len(read_shown("NodeName=w7 State=IDLE Reason=" + " [a" * 1_000_000, "w7").reason) <= 2000


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20), st.text())
def test_a_reason_of_ours_is_read_back_and_stays_small(incidents: list[str], text: str) -> None:
    owners = tuple(dict.fromkeys(name_owner(incident) for incident in incidents))
    reason = write_reason(owners, text)
    assert read_owners(reason) == owners[:MOST_OWNERS]
    assert len(read_text(reason)) <= MOST_TEXT
    assert reason.isascii()
    assert not set("\"'`[]=|\\\n") & set(reason)
    assert show("IDLE+DRAIN", f" Reason={reason} [slurm@2026-01-02T03:04:05]").reason == reason


@pytest.mark.parametrize(
    "reason", ["", "supernoded", "supernoded:", "supernoded: ", "supernoded: !", "see supernoded: i1 x", "Supernoded: i1"]
)
def test_a_reason_that_only_looks_like_ours_is_not(reason: str) -> None:
    assert read_owners(reason) is None


OURS, OTHERS = "supernoded: i1,i2 card is silent", "NHC: check_hw_ib failed"


@pytest.mark.parametrize(
    ("state", "reason", "drain", "release"),
    [
        ("IDLE", "", Effect.ABSENT, Effect.PRESENT),
        ("ALLOCATED", "", Effect.ABSENT, Effect.PRESENT),
        ("ALLOCATED+DRAIN", OURS, Effect.PRESENT, Effect.ABSENT),
        ("IDLE+DRAIN", "supernoded: i2 other", Effect.ABSENT, Effect.PRESENT),
        ("IDLE+DRAIN", OTHERS, Effect.UNKNOWN, Effect.PRESENT),
        ("IDLE+DRAIN", "", Effect.UNKNOWN, Effect.PRESENT),
        ("IDLE", OTHERS, Effect.UNKNOWN, Effect.PRESENT),
        ("DOWN*", "Not responding", Effect.UNKNOWN, Effect.PRESENT),
        ("DOWN", "", Effect.ABSENT, Effect.PRESENT),
    ],
)
def test_every_state_and_reason_has_one_sight(state: str, reason: str, drain: Effect, release: Effect) -> None:
    shown = Shown(state=state, reason=reason, by="root")
    assert (see_drain("w7", shown, "i1").effect, see_release("w7", shown, "i1").effect) == (drain, release)


def test_the_sentence_says_whose_it_is() -> None:
    shown = Shown(state="IDLE+DRAIN", reason=OTHERS, by="root")
    assert "w7 is IDLE+DRAIN in Slurm for 'NHC: check_hw_ib failed' of root, which is not ours" in see_drain("w7", shown, "i1").text
    assert see_release("w7", shown, "i1").text.endswith("is left so: that is not of this incident")
