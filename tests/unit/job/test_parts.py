from __future__ import annotations

from typing import Any

import pytest

from supernoded.errors import WireError
from supernoded.job.parts import JobActuator, JobSensor, read_times
from supernoded.job.protocol import Acted, Agreed, Beat, Bye, Durable, Order, Phase, Request, Saved, Saving, VaultTrouble, Withdraw
from supernoded.model import NODE, Action, Effect, State, Step
from supernoded.quantities import find_fault
from tests.unit.job.daemon import Caller, Side


class Site:
    """A job of two ranks under an actuator and a sensor."""

    def __init__(self, *, durable: bool = True) -> None:
        self.side = Side()
        self.actuator = JobActuator(self.side.server, self.side.clock, 120.0, durable=durable)
        self.sensor = JobSensor(self.side.server, self.side.clock)
        self.ranks: list[Caller] = []

    def start(self, ranks: int = 2) -> None:
        self.ranks = [self.side.start_rank(number, ranks) for number in range(ranks)]

    def say(self, *messages: Any) -> None:
        for rank in self.ranks:
            rank.hears()
            rank.say(*messages)

    def order(self, kind: str, name: str = "one", **more: Any) -> Action:
        now = self.side.clock.now()
        step = Step(name=name, kind=kind, target="job/train", reason="both feeds sag", **more)
        return Action(id=f"i1/{name}", step=step, incident="i1", scope=NODE, epoch=0, issued=now, deadline=now + 60)

    async def see(self, action: Action) -> Effect:
        return (await self.actuator.observe(action)).effect

    async def read(self) -> dict[tuple[str, str], Any]:
        return {(reading.subject, reading.quantity): reading.value for reading in await self.sensor.read()}


async def test_a_checkpoint_is_there_when_it_is_durable() -> None:
    site = Site()
    action = site.order("job.checkpoint", amount=30.0, details={"hard_s": "45"})
    assert await site.see(action) is Effect.ABSENT
    site.start()
    for rank in site.ranks:
        rank.hears()
    assert await site.see(action) is Effect.ABSENT
    await site.actuator.apply(action)
    expected = Request(id="i1/one", kind="checkpoint", deadline_s=30.0, hard_s=45.0, reason="both feeds sag", number=1)
    assert [rank.hears() for rank in site.ranks] == [[expected], [expected]]
    assert await site.see(action) is Effect.UNKNOWN
    site.say(Agreed(request="i1/one", number=1, step=100), Saving(step=100), Saved(step=100, size=1, seconds=0.5))
    sight = await site.actuator.observe(action)
    assert sight.effect is Effect.UNKNOWN
    assert "saved at step 100" in sight.text
    assert "whole in shared memory" in sight.text
    site.side.start_other("vault").say(Durable(step=100, tier="durable", where="/disk", taken=1.0, seconds=2.0))
    assert (await site.actuator.observe(action)).text == "step 100 is durable"
    assert await site.see(action) is Effect.PRESENT


async def test_without_a_durable_tier_shared_memory_is_the_effect() -> None:
    site = Site(durable=False)
    action = site.order("job.checkpoint")
    site.start()
    await site.actuator.apply(action)
    site.say(Agreed(request="i1/one", number=1, step=100), Saved(step=100, size=1, seconds=0.5))
    assert await site.see(action) is Effect.PRESENT


async def test_a_checkpoint_that_failed_may_be_asked_for_again() -> None:
    site = Site()
    action = site.order("job.checkpoint", amount=5.0)
    site.start()
    await site.actuator.apply(action)
    await site.side.clock.advance(11.0)
    site.side.server.pass_time()
    sight = await site.actuator.observe(action)
    assert sight.effect is Effect.ABSENT
    assert "hard limit" in sight.text


async def test_too_little_time_by_the_last_saves_is_said() -> None:
    site = Site()
    site.start()
    site.say(Saving(step=1))
    await site.side.clock.advance(8.0)
    site.say(Saved(step=1, size=1, seconds=8.0))
    action = site.order("job.checkpoint", amount=5.0)
    await site.actuator.apply(action)
    assert "it has 5.0 s and needs about 8.0" in (await site.actuator.observe(action)).text


async def test_withdrawn_before_the_ranks_agreed() -> None:
    site = Site()
    site.start()
    withdrawal = site.order("job.withdraw", "two", details={"request": "i1/one"})
    assert await site.see(withdrawal) is Effect.PRESENT, "never asked"
    await site.actuator.apply(site.order("job.checkpoint"))
    for rank in site.ranks:
        rank.hears()
    assert await site.see(withdrawal) is Effect.ABSENT
    await site.actuator.apply(withdrawal)
    assert [rank.hears() for rank in site.ranks] == [[Withdraw(id="i1/one")]] * 2
    assert await site.see(withdrawal) is Effect.PRESENT
    site.say(Agreed(request="i1/one", number=1, step=100))
    sight = await site.actuator.observe(withdrawal)
    assert sight.effect is Effect.UNKNOWN
    assert "too late" in sight.text


async def stop(site: Site) -> Action:
    """All ranks have saved step 100 and said goodbye."""
    site.start()
    action = site.order("job.stop", details={"deadline_s": "30", "hard_s": "40"})
    await site.actuator.apply(action)
    site.say(Agreed(request="i1/one", number=1, step=100), Saved(step=100, size=1, seconds=0.5), Bye(step=100))
    return action


async def test_who_has_stopped_is_not_done_before_its_step_is_durable_as_its_power_may_go_and_memory_with_it() -> None:
    site = Site()
    action = await stop(site)
    sight = await site.actuator.observe(action)
    assert sight.effect is Effect.UNKNOWN
    assert sight.text == "all ranks on this node have stopped in order; step 100 is in shared memory alone"

    vault = site.side.start_other("vault")
    vault.say(VaultTrouble(tier="durable", text="full"))
    assert (await site.actuator.observe(action)).text.endswith("is in shared memory alone; durable: full")
    vault.say(Durable(step=100, tier="durable", where="/disk", taken=1.0, seconds=1.0))
    assert await site.see(action) is Effect.PRESENT


async def test_nobody_waits_for_storage_beyond_the_hard_limit() -> None:
    site = Site()
    action = await stop(site)
    await site.side.clock.advance(39.0)
    assert await site.see(action) is Effect.UNKNOWN
    await site.side.clock.advance(2.0)
    sight = await site.actuator.observe(action)
    assert sight.effect is Effect.PRESENT
    assert "step 100 is in shared memory alone" in sight.text


async def test_without_a_durable_tier_a_job_has_stopped_when_all_ranks_said_goodbye() -> None:
    site = Site(durable=False)
    site.start()
    action = site.order("job.stop")
    await site.actuator.apply(action)
    assert [word.kind for rank in site.ranks for word in rank.hears() if isinstance(word, Request)] == ["stop", "stop"]
    site.say(Agreed(request="i1/one", number=1, step=100), Saved(step=100, size=1, seconds=0.5))
    site.ranks[0].say(Bye(step=100))
    sight = await site.actuator.observe(action)
    assert sight.effect is Effect.UNKNOWN
    assert "ranks still here: 1" in sight.text
    site.ranks[1].say(Bye(step=100))
    assert await site.see(action) is Effect.PRESENT


async def test_resumed_is_when_steps_go_on_not_when_the_launcher_says_so() -> None:
    site = Site()
    site.start()
    site.say(Beat(step=100), Bye(step=100))
    action = site.order("job.resume")
    with pytest.raises(WireError, match="no launcher"):
        await site.actuator.apply(action)
    launcher = site.side.start_other("launcher")
    launcher.hears()
    await site.actuator.apply(action)
    assert launcher.hears() == [Order(id="i1/one", kind="resume", incarnation=1)]
    launcher.say(Acted(order="i1/one"))
    assert await site.see(action) is Effect.UNKNOWN
    site.start()
    await site.side.clock.advance(1.0)
    site.ranks[0].say(Beat(step=101))
    assert await site.see(action) is Effect.UNKNOWN
    site.ranks[1].say(Beat(step=101))
    assert await site.see(action) is Effect.PRESENT


async def test_ranks_are_placed_anew_by_the_launcher() -> None:
    site = Site()
    site.start()
    launcher = site.side.start_other("launcher")
    launcher.hears()
    with pytest.raises(WireError, match="names no rank"):
        await site.actuator.apply(site.order("job.remap"))
    with pytest.raises(WireError, match="rank = card"):
        await site.actuator.apply(site.order("job.remap", details={"seven": "n1/card7"}))
    action = site.order("job.remap", details={"1": "n1/card7"})
    await site.actuator.apply(action)
    assert launcher.hears() == [Order(id="i1/one", kind="remap", cards={1: "n1/card7"}, incarnation=1)]
    launcher.say(Acted(order="i1/one", ok=False, why="no such card"))
    sight = await site.actuator.observe(action)
    assert (sight.effect, sight.text) == (Effect.ABSENT, "the launcher could not: no such card")
    await site.actuator.apply(action)
    assert launcher.hears() == [Order(id="i1/one", kind="remap", cards={1: "n1/card7"}, incarnation=1)]
    launcher.say(Acted(order="i1/one"))
    assert await site.see(action) is Effect.PRESENT


@pytest.mark.parametrize("details", [{"deadline_s": "soon"}, {"deadline_s": "-1"}, {"hard_s": "nan"}, {"deadline_s": "inf"}])
def test_a_time_that_is_none_is_refused(details: dict[str, str]) -> None:
    site = Site()
    with pytest.raises(WireError):
        read_times(site.order("job.checkpoint", details=details), site.side.clock.now(), 120.0)


def test_an_order_that_waited_has_that_much_less_time() -> None:
    site = Site()
    action = site.order("job.checkpoint", amount=30.0)
    assert read_times(action, action.issued + 10.0, 120.0) == (20.0, 50.0)


async def test_what_has_not_been_yet_is_unknown_and_the_rest_fits_the_vocabulary() -> None:
    site = Site()
    site.start()
    readings = await site.sensor.read()
    unknown = {reading.quantity for reading in readings if reading.state is State.UNKNOWN}
    never = {"job.step_time", "job.save_time", "job.stall_time", "job.saved_step", "job.durable_step", "job.durable_age", "job.step"}
    assert unknown == never | {"rank.step", "rank.step_time", "rank.card", "job.plan"}
    assert [find_fault(reading) for reading in readings if reading.state is State.GOOD] == [None] * (len(readings) - len(unknown) - 3)


async def test_steps_saves_and_phases_are_read() -> None:
    site = Site()
    site.start()
    for step in range(3):
        site.say(Beat(step=step))
        await site.side.clock.advance(2.0)
    site.say(Saving(step=2))
    saving = await site.read()
    await site.side.clock.advance(1.0)
    site.say(Saved(step=2, size=1, seconds=1.0), Phase(name="evaluation", expect_s=60.0))
    await site.side.clock.advance(3.0)
    site.side.start_other("vault").say(Durable(step=2, tier="durable", where="/disk", taken=site.side.clock.wall() - 4.0, seconds=3.0))
    values = await site.read()
    assert (saving["job/train", "job.state"], saving["job/train/rank1", "rank.state"]) == ("saving", "saving")
    wanted = {"job.state": "running", "job.world_size": 2, "job.ranks": 2, "job.step": 2, "job.step_time": 2, "job.save_time": 4}
    wanted |= {"job.stall_time": 1, "job.saved_step": 2, "job.durable_step": 2, "job.durable_age": 4}
    wanted |= {"job.request": "none", "job.phase": "evaluation", "job.trouble": ""}
    assert {quantity: values["job/train", quantity] for quantity in wanted} == wanted
    assert (values["job/train/rank0", "rank.state"], values["job/train/rank0", "rank.beat_age"]) == ("phase", 3)
    site.ranks[1].hang_up()
    values = await site.read()
    assert (values["job/train", "job.state"], values["job/train/rank1", "rank.state"], values["job/train", "job.ranks"]) == (
        "silent",
        "gone",
        1,
    )
