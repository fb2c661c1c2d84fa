"""The test of a card as an action: never under a rank, once for each action."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from supernoded.cards.hooks import SiteHooks
from supernoded.cards.testing import TrialActuator
from supernoded.cards.trial import Trial, find_users
from supernoded.errors import RefusedError, WireError
from supernoded.model import Effect
from supernoded.settings import Hooks
from supernoded.testing import Answer, ManualClock, MemoryCommand
from tests.unit.cards.rooms import CardRoom, make_action, read

TEST = make_action("card.test", serial="SN3")


def make_trial(room: CardRoom, hooks: SiteHooks) -> Trial:
    return Trial(hooks, room.clock, 15.0, lambda card: room.ranks.get(card, []), lambda _: "SN3")


@pytest.fixture
def room(tmp_path: Path, supernoded_clock: ManualClock) -> CardRoom:
    return CardRoom(tmp_path, supernoded_clock)


async def pass_time(room: CardRoom, trial: Trial, until: int, temperature: float | None = 50.0) -> None:
    """A reading every 5 s."""
    for _ in range(until // 5):
        await room.clock.advance(4.9)
        trial.take([read("card.temperature", temperature, room.clock.now(), note="" if temperature else "no answer")], 12.5)
        await room.clock.advance(0.1)


async def test_a_card_is_watched_and_says_how_far_it_is(room: CardRoom) -> None:
    trial = make_trial(room, SiteHooks(Hooks(), room.wires))
    actuator = TrialActuator(trial, ["n0/card3"], room.clock)
    assert (await actuator.observe(TEST)).effect is Effect.ABSENT
    await actuator.apply(TEST)
    await pass_time(room, trial, 10)
    sight = await actuator.observe(TEST)
    assert (sight.effect, sight.text, trial.is_testing("n0/card3")) == (Effect.UNKNOWN, "under test, 10 of 15 s", True)
    await pass_time(room, trial, 10)
    sight = await actuator.observe(TEST)
    assert sight.effect is Effect.PRESENT
    assert sight.text == "passed: watched for 15 s, 3 readings by tool, uncorrected errors are not counted"
    assert not trial.is_testing("n0/card3")


async def test_what_has_failed_has_failed_for_this_action(room: CardRoom) -> None:
    trial = make_trial(room, SiteHooks(Hooks(), room.wires))
    actuator = TrialActuator(trial, ["n0/card3"], room.clock)
    await actuator.apply(TEST)
    await pass_time(room, trial, 20, None)
    for _ in range(2):
        sight = await actuator.observe(TEST)
        assert (sight.effect, sight.final) == (Effect.ABSENT, True)
        assert "n0/card3 failed its test: it did not answer once in 15.0 s: no answer" in sight.text
        await actuator.apply(TEST)
    again = make_action("card.test", name="2-test-n0/card3")
    await actuator.apply(again)
    await pass_time(room, trial, 20)
    assert (await actuator.observe(again)).effect is Effect.PRESENT


async def test_only_a_test_that_is_passed_is_told_on(room: CardRoom) -> None:
    trial, told = make_trial(room, SiteHooks(Hooks(), room.wires)), list[tuple[str, str]]()

    async def note(card: str, serial: str) -> None:
        told.append((card, serial))

    trial.on_passed.append(note)
    trial.begin("a", "n0/card3", "SN3")
    await pass_time(room, trial, 20, None)
    assert told == []
    trial.begin("b", "n0/card3", "SN3")
    await pass_time(room, trial, 20)
    assert told == [("n0/card3", "SN3")]


async def test_nothing_is_tested_under_a_rank_nor_twice_at_once(room: CardRoom) -> None:
    trial = make_trial(room, SiteHooks(Hooks(), room.wires))
    room.ranks["n0/card3"] = ["job/train/rank3"]
    with pytest.raises(RefusedError, match="job/train/rank3 runs on it"):
        trial.begin("a", "n0/card3")
    room.ranks.clear()
    trial.begin("a", "n0/card3")
    with pytest.raises(RefusedError, match="under test already"):
        trial.begin("b", "n0/card3")
    room.ranks["n0/card3"] = ["job/train/rank3"]
    await pass_time(room, trial, 20)
    found = trial.find("a")
    assert found is not None
    assert "runs on it" in found.trouble  # a job has taken it meanwhile: what was seen proves nothing


async def test_the_sites_program_decides_where_there_is_one(room: CardRoom) -> None:
    trial = make_trial(room, room.hooks)
    room.said = "matrix products agree"
    trial.begin("a", "n0/card3")
    await trial.wait("a")
    room.code, room.said = 1, "FAILED: 2 of 64 banks"
    trial.begin("b", "n0/card3")
    await trial.wait("b")
    good, bad = trial.find("a"), trial.find("b")
    assert good is not None
    assert bad is not None
    assert (good.text, bad.trouble) == (
        "passed: matrix products agree",
        "[hooks] test: cardctl test n0/card3 ended with code 1: FAILED: 2 of 64 banks",
    )


def test_a_rank_that_has_stopped_uses_no_card() -> None:
    readings = [
        read("rank.card", "n0/card3", subject="job/a/rank0"),
        read("rank.state", "running", subject="job/a/rank0"),
        read("rank.card", "n0/card3", subject="job/a/rank1"),
        read("rank.state", "stopped", subject="job/a/rank1"),
        read("rank.card", "n0/card4", subject="job/a/rank2"),
        read("rank.card", "n0/card3", subject="job/a/rank3"),
    ]
    assert find_users(readings, "n0/card3") == ["job/a/rank0", "job/a/rank3"]


async def test_a_tool_that_hangs_for_all_cards_of_the_node_fails_none(room: CardRoom) -> None:
    trial = make_trial(room, SiteHooks(Hooks(), room.wires))
    trial.take([read("card.temperature", 50.0, room.clock.now(), subject="n0/card1")], 12.5)
    actuator = TrialActuator(trial, ["n0/card3"], room.clock)
    await actuator.apply(TEST)
    await pass_time(room, trial, 20, None)
    sight = await actuator.observe(TEST)
    assert (sight.effect, sight.final, sight.refused) == (Effect.ABSENT, False, True)
    assert "its tool is what hangs" in sight.text


async def test_a_rank_that_comes_in_the_course_of_it_fails_no_card(room: CardRoom) -> None:
    trial = make_trial(room, SiteHooks(Hooks(), room.wires))
    actuator = TrialActuator(trial, ["n0/card3"], room.clock)
    await actuator.apply(TEST)
    room.ranks["n0/card3"] = ["job/other/rank0"]
    await pass_time(room, trial, 20)
    sight = await actuator.observe(TEST)
    assert (sight.effect, sight.final, sight.refused) == (Effect.ABSENT, False, True)
    assert "job/other/rank0 runs on it" in sight.text


@pytest.mark.parametrize(("code", "final"), [(1, True), (42, True), (75, False), (126, False), (127, False), (-9, False)])
async def test_only_a_program_that_came_to_its_own_end_fails_a_card(room: CardRoom, code: int, *, final: bool) -> None:
    trial = make_trial(room, room.hooks)
    actuator = TrialActuator(trial, ["n0/card3"], room.clock)
    room.code = code
    await actuator.apply(TEST)
    await trial.wait(TEST.id)
    sight = await actuator.observe(TEST)
    assert (sight.effect, sight.final, sight.refused) == (Effect.ABSENT, final, not final)
    assert final or sight.text.startswith("n0/card3 was not tested; see to `hooks.test` and `hooks.test_s`: ")


@pytest.mark.parametrize("error", [WireError("cardctl: cannot be started"), KeyError("a bug of ours")])
async def test_a_program_that_cannot_be_started_fails_no_card(room: CardRoom, error: Exception) -> None:
    def fail(arguments: Sequence[str]) -> Answer:
        raise error

    command = room.wires.command(("cardctl", "test"))
    assert isinstance(command, MemoryCommand)
    command.answer = fail
    actuator = TrialActuator(trial := make_trial(room, room.hooks), ["n0/card3"], room.clock)
    await actuator.apply(TEST)
    await trial.wait(TEST.id)
    sight = await actuator.observe(TEST)
    assert (sight.effect, sight.final, sight.refused) == (Effect.ABSENT, False, True)
    assert str(error).strip("'") in sight.text
