"""Orders to a launcher: given once, done once, whoever crashes when."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from supernoded.errors import WireError
from supernoded.job.keeping import Keeping
from supernoded.job.parts import JobActuator, JobSensor
from supernoded.job.protocol import Acted, Beat, Order
from supernoded.model import NODE, Action, Effect, Step
from supernoded.testing import MemoryWires
from tests.unit.job.daemon import Caller, Side

PLAN = "tp=2 pp=1 dp=2 ep=1"


class Launcher:
    """A launcher that outlives daemons: it does an order once, by its id, and tells its answers again."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.told: dict[str, Acted] = {}
        self.caller: Caller | None = None

    def dial(self, side: Side) -> None:
        self.caller = side.start_other("launcher")
        self.caller.say(*self.told.values())

    def obey(self, *, silently: bool = False) -> None:
        """Do what has come; `silently` = the answers do not arrive."""
        assert self.caller is not None
        for order in self.caller.hears():
            if isinstance(order, Order):
                if order.id not in self.told:
                    self.done.append(order.kind)
                self.told[order.id] = Acted(order=order.id)
                if not silently:
                    self.caller.say(self.told[order.id])


class Site:
    """A job of four ranks on one node, whose daemon may crash; what it keeps survives."""

    def __init__(self) -> None:
        self.launcher = Launcher()
        self.ranks: list[Caller] = []
        self.side = Side()
        self.actuator = JobActuator(self.side.server, self.side.clock, 120.0, durable=True)

    def start_daemon(self) -> None:
        """The one before is gone in mid-word."""
        kept = self.side.server.jobs["train"].kept
        self.side = Side()
        self.side.server.open_job("train", kept)
        self.actuator = JobActuator(self.side.server, self.side.clock, 120.0, durable=True)

    def start_ranks(self, life: str, world: int = 4, plan: str = PLAN) -> None:
        for rank in self.ranks:
            rank.hang_up()
        self.ranks = [self.side.start_rank(number, world, life=f"{life}{number}", plan=plan) for number in range(world)]

    def order(self, kind: str, name: str, **details: str) -> Action:
        now = self.side.clock.now()
        step = Step(name=name, kind=kind, target="job/train", reason="rank 3 is silent", details=details)
        return Action(id=f"i1/{name}", step=step, incident="i1", scope=NODE, epoch=0, issued=now, deadline=now + 60)

    async def perform(self, action: Action) -> Effect:
        """As whoever orders does: look, apply, look."""
        if (await self.actuator.observe(action)).effect is Effect.ABSENT:
            await self.actuator.apply(action)
        return (await self.actuator.observe(action)).effect

    async def read(self, quantity: str) -> Any:
        found = await JobSensor(self.side.server, self.side.clock).read()
        return next(reading.value for reading in found if (reading.subject, reading.quantity) == ("job/train", quantity))


@pytest.fixture
def site() -> Site:
    site = Site()
    site.start_ranks("a")
    site.launcher.dial(site.side)
    return site


async def test_the_daemon_crashes_before_the_launcher_has_heard(site: Site) -> None:
    abort = site.order("job.abort", "abort")
    assert await site.perform(abort) is Effect.ABSENT
    site.start_daemon()
    site.launcher.dial(site.side)
    assert await site.perform(abort) is Effect.ABSENT
    site.launcher.obey()
    assert await site.perform(abort) is Effect.PRESENT
    assert site.launcher.done == ["abort"]


async def test_the_daemon_crashes_before_it_has_heard_the_answer(site: Site) -> None:
    abort = site.order("job.abort", "abort")
    await site.perform(abort)
    site.launcher.obey(silently=True)
    site.start_daemon()
    site.launcher.dial(site.side)
    assert await site.perform(abort) is Effect.PRESENT
    assert site.launcher.done == ["abort"]


async def test_the_daemon_crashes_after_the_answer(site: Site) -> None:
    abort = site.order("job.abort", "abort")
    await site.perform(abort)
    site.launcher.obey()
    site.start_daemon()
    assert await site.perform(abort) is Effect.PRESENT, "no launcher has dialled yet"


async def test_an_answer_that_nobody_here_has_asked_for_counts(site: Site) -> None:
    """The files of the earlier life are lost."""
    abort = site.order("job.abort", "abort")
    await site.perform(abort)
    site.launcher.obey()
    site.side = Side()
    site.actuator = JobActuator(site.side.server, site.side.clock, 120.0, durable=True)
    site.launcher.dial(site.side)
    assert await site.perform(abort) is Effect.PRESENT
    assert site.launcher.done == ["abort"]


async def test_the_launcher_crashes_before_it_has_answered_and_is_told_again(site: Site) -> None:
    abort = site.order("job.abort", "abort")
    await site.perform(abort)
    assert site.launcher.caller is not None
    site.launcher.caller.hang_up()
    with pytest.raises(WireError, match="no launcher is connected"):
        await site.perform(abort)
    site.launcher = Launcher()
    site.launcher.dial(site.side)
    site.launcher.obey()
    assert await site.perform(abort) is Effect.PRESENT


async def test_an_abort_of_a_start_that_is_over_aborts_nothing(site: Site) -> None:
    abort = site.order("job.abort", "abort")
    await site.perform(abort)
    assert site.launcher.caller is not None
    site.launcher.caller.hang_up()  # before it has read the order
    site.start_daemon()
    site.start_ranks("b")  # by somebody else
    site.launcher = Launcher()  # another process, which remembers nothing
    site.launcher.dial(site.side)
    assert await site.perform(abort) is Effect.PRESENT
    site.launcher.obey()
    assert site.launcher.done == []


async def test_whoever_orders_can_say_which_start_it_is_about(site: Site) -> None:
    before = str(int(await site.read("job.incarnation")))
    site.start_ranks("b")
    assert await site.perform(site.order("job.abort", "abort", incarnation=before)) is Effect.PRESENT
    assert await site.read("job.state") != "aborted"
    with pytest.raises(WireError, match="about start 1 of it"):
        await site.perform(site.order("job.remap", "remap", incarnation=before, cards='{"3": "n1/card0"}'))
    with pytest.raises(WireError, match="no number of a start"):
        await site.perform(site.order("job.abort", "other", incarnation="soon"))
    site.launcher.obey()
    assert site.launcher.done == []


async def test_a_job_is_not_started_twice(site: Site) -> None:
    await site.perform(site.order("job.abort", "abort"))
    site.launcher.obey()
    resume = site.order("job.resume", "resume")
    await site.perform(resume)
    site.launcher.obey(silently=True)
    site.start_daemon()
    site.start_ranks("b")  # which the launcher has started, before it died
    site.launcher = Launcher()
    site.launcher.dial(site.side)
    assert await site.perform(resume) is Effect.UNKNOWN
    site.launcher.obey()
    assert site.launcher.done == []
    await site.side.clock.advance(1.0)
    for rank in site.ranks:
        rank.say(Beat(step=8))
    assert await site.perform(resume) is Effect.PRESENT


async def test_from_abort_to_resume_the_state_says_aborted(site: Site) -> None:
    assert await site.read("job.launcher") == 1.0
    await site.perform(site.order("job.abort", "abort"))
    site.launcher.obey()
    assert await site.read("job.state") == "aborted"
    assert await site.perform(site.order("job.abort", "another")) is Effect.PRESENT
    await site.perform(site.order("job.resume", "resume"))
    site.launcher.obey()
    assert await site.read("job.state") == "starting"
    assert await site.read("job.incarnation") == 2.0
    assert site.launcher.done == ["abort", "resume"]


async def test_without_ranks_here_the_launchers_word_is_all_there_is() -> None:
    site = Site()
    site.launcher.dial(site.side)
    resume = site.order("job.resume", "resume")
    assert await site.perform(resume) is Effect.ABSENT
    site.launcher.obey()
    assert await site.perform(resume) is Effect.PRESENT
    assert await site.read("job.state") == "absent"


async def test_an_older_client_is_another_start_after_an_abort() -> None:
    site = Site()
    site.side.start_rank(0, 1).say(Beat(step=5))
    site.launcher.dial(site.side)
    await site.perform(site.order("job.abort", "abort"))
    site.launcher.obey()
    for peer in list(site.side.server._peers):
        if peer.hello is not None and peer.hello.kind == "rank":
            peer.connection_lost(None)
    site.side.start_rank(0, 1)
    assert await site.read("job.state") == "starting"
    assert await site.read("job.incarnation") == 2.0


async def test_a_whole_replica_is_given_up_and_the_plan_follows(site: Site) -> None:
    assert await site.read("job.plan") == PLAN
    remap = site.order("job.remap", "remap", drop="[1, 0]", cards='{"3": "n1/card7"}')
    assert await site.perform(remap) is Effect.ABSENT
    assert site.launcher.caller is not None
    order = site.launcher.caller.hears()[-1]
    assert order == Order(id="i1/remap", kind="remap", cards={3: "n1/card7"}, drop=(0, 1), plan="tp=2 pp=1 dp=1 ep=1", incarnation=1)
    for rank in site.ranks:
        rank.hang_up()
    site.launcher.caller.say(Acted(order="i1/remap"))
    assert await site.perform(remap) is Effect.PRESENT
    await site.actuator.apply(remap)  # once more: nothing is read against the plan that is now
    assert (await site.read("job.plan"), await site.read("job.world_size")) == ("tp=2 pp=1 dp=1 ep=1", 2.0)
    site.ranks = []
    site.start_ranks("b", 2, "tp=2 pp=1 dp=1 ep=1")
    assert await site.read("job.ranks") == 2.0


@pytest.mark.parametrize(
    ("plan", "details", "words"),
    [
        (PLAN, {"drop": "[3]"}, "no whole replica"),
        (PLAN, {"drop": "[1, 2]"}, "with rank 1 go ranks 0 to 1"),
        (PLAN, {"drop": "[0, 1, 3]"}, "with rank 3 go ranks 2 to 3"),
        (PLAN, {"drop": "[0, 1, 2, 3]"}, "a spare is needed"),
        (PLAN, {"drop": "[9]"}, "rank 9 is none of plan"),
        (PLAN, {"drop": "[0, 1]", "cards": '{"1": "n1/card0"}'}, "rank 1 is to be given up and to be moved"),
        ("tp=4", {"drop": "[0, 1, 2, 3]"}, "a spare is needed"),
        ("tp=2 dp=2 ep=4", {"drop": "[0, 1]"}, "experts are spread over replicas"),
        ("", {"drop": "[0, 1]"}, "has not told its plan"),
        (PLAN, {"drop": "all"}, "details of job.remap are"),
        (PLAN, {"cards": "[]"}, "details of job.remap are"),
        (PLAN, {}, "names no rank"),
    ],
)
async def test_a_plan_never_shrinks_by_less_than_a_replica(plan: str, details: dict[str, str], words: str) -> None:
    site = Site()
    site.start_ranks("a", plan=plan)
    site.launcher.dial(site.side)
    with pytest.raises(WireError, match=words):
        await site.actuator.apply(site.order("job.remap", "remap", **details))
    site.launcher.obey()
    assert site.launcher.done == []


@pytest.mark.parametrize(("plan", "words"), [("tp=3", "makes 3 ranks (tp * pp * dp), and the job has 4"), ("4 by 4", "is no size")])
async def test_a_plan_that_is_none_of_the_job_is_a_trouble_and_not_taken(site: Site, plan: str, words: str) -> None:
    site.start_ranks("b", plan=plan)
    assert words in await site.read("job.trouble")
    assert await site.read("job.plan") == PLAN
    site.start_ranks("c")
    assert await site.read("job.trouble") == ""


async def test_a_tensor_group_over_two_nodes_is_a_trouble_and_the_plan_is_taken() -> None:
    site = Site()
    site.side = Side(cards=2)
    site.start_ranks("a", plan="tp=4")
    assert "more than the 2 cards of a node" in await site.read("job.trouble")
    assert await site.read("job.plan") == "tp=4 pp=1 dp=1 ep=1"


async def test_what_was_ordered_survives_in_the_state_folder(site: Site) -> None:
    await site.perform(site.order("job.abort", "abort"))
    site.launcher.obey()
    kept = site.side.server.jobs["train"].kept
    tree = MemoryWires().tree("/state")
    await Keeping(tree, logging.getLogger("test")).write("train", kept)
    assert await Keeping(tree, logging.getLogger("test")).read() == {"train": kept}
