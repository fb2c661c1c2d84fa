"""Nodes leave the scheduler by the site's own program."""

from __future__ import annotations

from pathlib import Path

from supernoded.cards.draining import DrainActuator
from supernoded.model import Effect
from supernoded.settings import Hooks
from supernoded.testing import ManualClock
from tests.unit.cards.rooms import CardRoom, make_action

HOOKS = Hooks(drain=("site", "drain", "{node}", "{reason}"), undrain=("site", "undrain", "{node}"))


async def test_a_node_is_drained_once_and_a_failure_is_tried_again(tmp_path: Path, supernoded_clock: ManualClock) -> None:
    room = CardRoom(tmp_path, supernoded_clock, HOOKS)
    actuator = DrainActuator(room.hooks, ["n0", "n1"], room.clock)
    drain, release = make_action("node.drain", "n1"), make_action("node.release", "n1")
    assert (await actuator.observe(drain)).effect is Effect.ABSENT
    room.code, room.said = 1, "no controller"
    await actuator.apply(drain)
    sight = await actuator.observe(drain)
    assert (sight.effect, sight.text) == (Effect.ABSENT, "[hooks] drain: site drain n1 no beat for 20 s ended with code 1: no controller")
    room.code = 0
    for _ in range(2):
        await actuator.apply(drain)
        assert (await actuator.observe(drain)).effect is Effect.PRESENT
    await actuator.apply(release)
    assert (await actuator.observe(release)).effect is Effect.PRESENT
    assert room.ran == [("site", "drain", "n1", "no beat for 20 s")] * 2 + [("site", "undrain", "n1")]
