"""Actions that are performed on another node: through a daemon's own performer, its commander, the other's desk and actuator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from sim_hardware.loop.play import play
from supernoded.actions import Performer
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.commands.remote import ActionDesk, RemoteActuator
from supernoded.errors import NotHeldError, WireError
from supernoded.guards import Guard, Tally, guard_deadline, guard_mode
from supernoded.model import Action, Effect, Mode, Outcome, Result, Step
from supernoded.modes import Modes
from tests.sim.fabric.commanding import Life, Site
from tests.unit.casework import Device

Scenario = Callable[["Pair"], Coroutine[Any, Any, None]]


class Pair:
    """n0 has the role, n1 the card."""

    def __init__(self, folder: Path, device: Device | None) -> None:
        self.site = Site(folder)
        self.device = device
        self.missed: list[str] = []

    async def begin(self) -> None:
        self.site.broker.start()
        self.n0, self.n1 = self.site.start("n0"), self.site.start("n1")
        self.join(self.n1)
        await self.site.up(self.n0, self.n1)

    def join(self, life: Life, guard: Guard = guard_deadline) -> None:
        ActionDesk("n1", lambda _: self.device, [guard], life.clock).join(life.commander)

    def remote(self, commander: Commander) -> RemoteActuator:
        return RemoteActuator(commander, lambda _: "n1", self.missed.append)

    def action(self, patience: float = 10.0) -> Action:
        step = Step(name="fence", kind="card.isolate", target="n1/card3", reason="it is silent", patience=patience)
        now = self.n0.clock.now()
        return Action(
            id="i1/fence", step=step, incident="i1", scope="spares", epoch=0, issued=now, deadline=now + patience, policy="isolation"
        )

    async def perform(self, patience: float = 10.0) -> Outcome:
        clock = self.n0.clock
        performer = Performer(lambda _: self.remote(self.n0.commander), [guard_deadline], Tally(6, 3), self.n0.journal, clock)
        return await performer.perform(self.action(patience))


def run(folder: Path, scenario: Scenario, device: Device | None) -> None:
    pair = Pair(folder, device)

    async def main() -> None:
        await pair.begin()
        await scenario(pair)

    play(pair.site.loop, main())
    assert pair.site.loop.failures == []


def test_done_there(tmp_path: Path) -> None:
    device = Device(takes=2.0)

    async def scenario(pair: Pair) -> None:
        outcome = await pair.perform()
        assert outcome.result is Result.DONE
        assert device.performed == {"i1/fence": 1}
        verbs = {verb for verb, _ in await pair.n1.requests()}
        assert verbs == {"command apply of n0"}  # looking changes nothing and is not written down

    run(tmp_path, scenario, device)


def test_clocks_of_two_nodes_do_not_move_a_deadline(tmp_path: Path) -> None:
    """Nor does a wall clock that was set in one life."""
    seen: list[Action] = []

    class Noting(Device):
        async def apply(self, action: Action) -> None:
            seen.append(action)
            await super().apply(action)

    async def scenario(pair: Pair) -> None:
        pair.n0.clock.jump, pair.n1.clock.jump = 1000.0, 999.0
        begun = pair.n0.clock.now()
        await pair.perform()
        (action,) = seen
        assert action.issued == pytest.approx(begun + 1.0, abs=0.1)
        assert action.deadline == pytest.approx(begun + 11.0, abs=0.1)
        assert action.scope == "node"  # done in that node's own name: its pen knows nothing of the role

    run(tmp_path, scenario, Noting())


def test_a_refusal_there_is_a_refusal_here(tmp_path: Path) -> None:
    device = Device()

    async def scenario(pair: Pair) -> None:
        pair.join(pair.n1, lambda _action, _now: "n1/card3 is held by operator ann: it is being replaced")
        outcome = await pair.perform()
        assert outcome.result is Result.REFUSED
        assert outcome.text == "n1: n1/card3 is held by operator ann: it is being replaced"
        assert device.performed == {}

    run(tmp_path, scenario, device)


def test_its_own_mode_counts(tmp_path: Path) -> None:
    device = Device()

    async def scenario(pair: Pair) -> None:
        pair.join(pair.n1, guard_mode(Modes(Mode.OBSERVE, {}).of))
        outcome = await pair.perform()
        assert outcome.result is Result.REFUSED
        assert "n1: policy isolation is in mode observe" in outcome.text
        assert device.performed == {}

    run(tmp_path, scenario, device)


def test_the_pen_of_that_node_refuses(tmp_path: Path) -> None:
    class Penless(Device):
        async def apply(self, action: Action) -> None:
            raise NotHeldError("node: nothing was written")

    async def scenario(pair: Pair) -> None:
        outcome = await pair.perform()
        assert (outcome.result, outcome.text) == (Result.REFUSED, "n1: node: nothing was written")

    run(tmp_path, scenario, Penless())


def test_nobody_there_performs_it(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        outcome = await pair.perform()
        assert outcome.result is Result.EXPIRED  # it could not even be looked at
        assert "no actuator performs card.isolate on n1/card3 on n1" in outcome.text

    run(tmp_path, scenario, None)


def test_a_device_there_that_is_dead(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        outcome = await pair.perform()
        assert outcome.result is Result.EXPIRED
        assert "n1: the device does not answer" in outcome.text
        assert pair.missed == []  # its daemon has answered

    run(tmp_path, scenario, Device(dead=True))


def test_a_node_that_is_gone(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        pair.site.loop.kill(pair.n1.process)
        outcome = await pair.perform()
        assert outcome.result is Result.EXPIRED
        assert "n1 has not answered `observe` within 2.5 s" in outcome.text
        assert set(pair.missed) == {"n1"}

    run(tmp_path, scenario, Device())


def test_an_order_whose_answer_is_lost_is_looked_at_and_not_doubled(tmp_path: Path) -> None:
    device = Device()

    async def scenario(pair: Pair) -> None:
        performing = asyncio.ensure_future(pair.perform())
        while not device.performed:
            await asyncio.sleep(0.0001)
        pair.site.broker.stop()
        await asyncio.sleep(1.0)
        pair.site.broker.start()
        outcome = await performing
        assert outcome.result is Result.DONE
        assert device.performed == {"i1/fence": 1}

    run(tmp_path, scenario, device)


def test_one_action_is_applied_once_at_a_time(tmp_path: Path) -> None:
    started: list[str] = []

    class Slow(Device):
        async def apply(self, action: Action) -> None:
            started.append(action.id)
            await asyncio.sleep(1.0)

    async def scenario(pair: Pair) -> None:
        remote = pair.remote(pair.n0.commander)
        first = asyncio.ensure_future(remote.apply(pair.action()))
        await asyncio.sleep(0.5)
        with pytest.raises(WireError, match="i1/fence is under way here already"):
            await remote.apply(pair.action())
        await first
        assert started == ["i1/fence"]
        await remote.apply(pair.action())  # it has ended: whether to ask again is for him who looks
        assert len(started) == 2

    run(tmp_path, scenario, Slow())


def test_what_is_seen_there(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        sight = await pair.remote(pair.n0.commander).observe(pair.action())
        assert (sight.effect, sight.text) == (Effect.ABSENT, "nothing of it is there")

    run(tmp_path, scenario, Device())


def test_a_command_without_an_action(tmp_path: Path) -> None:
    async def scenario(pair: Pair) -> None:
        with pytest.raises(WireError, match="`apply` without an action"):
            await pair.n0.commander.ask("n1", "apply")

    run(tmp_path, scenario, Device())
