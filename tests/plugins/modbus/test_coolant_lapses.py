"""A CDU that fell back by itself while a loop went on: it is taken anew from where it stands, and what was yielded is not."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from sim_hardware.plant.cooling.orders import SetControl, SetPump, SetWatchdog
from supernoded.history import History
from supernoded.journal.writer import open_journal
from supernoded.model import Effect, Mode, Said
from supernoded.modes import Modes
from supernoded.plugin import LapsedError, WireError, YieldedError
from supernoded.steering import Helm, Steering
from supernoded.topology.site import Authority
from supernoded_modbus.coolant.handles import LeadHandle
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, MAPS, Hall, enter_hall, make_folder, open_hall
from tests.unit.test_steering import Ramp
from tests.unit.worlds import health


class Play:
    """A loop that opens the valve by one per cent a second, whatever comes of it."""

    def __init__(self, hall: Hall, folder: Path, mode: Mode) -> None:
        clock = hall.bench.node.clock
        self.loop, self.modes, self.health = Ramp(), Modes(mode, {}), health()
        self.journal = open_journal(folder / "journal.db", clock)
        helm = Helm(CDU, History({"coolant.valve": 60.0}), self.journal, clock, self.modes, self.health, hall.bench.wires.refusals.get)
        self.steering = Steering(helm, self.loop, hall.handle("valve"), "thermal")

    def say(self, mode: Mode) -> None:
        self.modes.say(Said(policy="thermal", mode=mode, by="alice", at=0.0))


@asynccontextmanager
async def steer(hall: Hall, folder: Path, mode: Mode = Mode.ACT) -> AsyncIterator[Play]:
    play = Play(hall, folder, mode)
    task = asyncio.ensure_future(play.steering.run())
    yield play
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await play.journal.close()


@pytest.mark.parametrize("cdu", MAPS)
def test_a_wire_that_was_dead_for_longer_than_the_watchdog_is_no_bump(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu) as hall, steer(hall, tmp_path):
            await asyncio.sleep(5.0)
            assert hall.truth("coolant.control") == "direct"
            hall.silence(silent=True)
            await asyncio.sleep(30.0)  # its loop has opened it by thirty per cent, as far as it knows
            assert hall.truth("coolant.control") == "auto"
            hall.silence(silent=False)
            stands, worst = hall.number("coolant.valve"), 0.0
            for _ in range(400):
                await asyncio.sleep(0.1)
                now = hall.number("coolant.valve")
                worst, stands = max(worst, abs(now - stands)), now
            assert hall.truth("coolant.control") == "direct"
            assert worst < 2.5

    run(story)


def test_what_was_looked_at_long_ago_is_not_taken(tmp_path: Path) -> None:
    """The wire died between the look and the first write."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            hall.silence(silent=True)
            for _ in range(16):
                with pytest.raises(WireError):
                    await hall.put(90.0)
                await asyncio.sleep(1.0)
            hall.silence(silent=False)
            await asyncio.sleep(30.0)  # until it is asked again
            hall.take_names()
            with pytest.raises(LapsedError, match="was not looked at within the last 15 s"):
                await hall.put(90.0)
            assert hall.take_names() == []

    run(story)


def test_what_was_yielded_is_not_taken_anew_when_its_loop_was_blind_for_a_while(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall, steer(hall, tmp_path) as play:
            await asyncio.sleep(5.0)
            hall.do(SetControl(CDU, "auto"))  # at its panel
            await asyncio.sleep(5.0)
            assert "another hand is on it and it is yielded" in play.health.troubles()[0].text
            hall.take_names()
            play.loop.silent = True
            await asyncio.sleep(20.0)
            play.loop.silent = False
            await asyncio.sleep(20.0)
            assert hall.take_names() == []
            assert "another hand is on it and it is yielded" in play.health.troubles()[0].text
            play.say(Mode.OBSERVE)
            await asyncio.sleep(3.0)
            play.say(Mode.ACT)
            await asyncio.sleep(5.0)
            assert hall.truth("coolant.control") == "direct"

    run(story)


def test_pumps_that_the_plc_has_had_in_between_are_no_other_hand(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.hold(45.0, 2)
            await hall.now_at("pump")
            await hall.put(80.0, "pump")
            await asyncio.sleep(20.0)
            assert await hall.hold(45.0, 2) == []
            hall.do(SetPump(CDU, 0, 60.0))  # as its own control has left it
            with pytest.raises(LapsedError, match="taken anew since the pumps were looked at"):
                await hall.put(81.0, "pump")
            await hall.now_at("pump")
            await hall.put(61.0, "pump")
            assert await hall.hold(45.0, 2) == []

    run(story)


@pytest.mark.parametrize("seconds", [16.0, 600.0])
def test_a_watchdog_that_is_made_longer_under_our_hand_ends_direct_control(tmp_path: Path, seconds: float) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            hall.do(SetWatchdog(CDU, seconds))
            refused = await hall.hold(45.0, 3)
            assert f"its watchdog does not run, or takes longer than 15 s (it is set to {seconds:g} s)" in refused[0]
            assert len(refused) == 3
            assert hall.truth("coolant.control") == "auto"

    run(story)


def test_a_watchdog_that_does_not_run_is_seen_also_when_the_first_look_at_it_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            sense, world = hall.bench.world.sense, hall.bench.world
            monkeypatch.setattr(world, "sense", lambda subject, name: 0.0 if name.endswith("watchdog_left") else sense(subject, name))
            order = world.order

            def fall_silent(given: object) -> None:
                order(given)  # type: ignore[arg-type]
                hall.silence(silent=True)

            monkeypatch.setattr(world, "order", fall_silent)
            with pytest.raises(WireError):
                await hall.put(45.0)
            monkeypatch.setattr(world, "order", order)
            hall.silence(silent=False)
            assert hall.truth("coolant.control") == "direct"
            with pytest.raises(WireError, match="does not run"):
                await hall.put(45.0)
            assert hall.truth("coolant.control") == "auto"
            assert "Beat" not in hall.take_names()

    run(story)


def test_a_persons_direct_control_without_a_watchdog_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose watchdog only runs for those who beat: what has run out has its own control again, and this has not."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            sense, world = hall.bench.world.sense, hall.bench.world
            monkeypatch.setattr(world, "sense", lambda subject, name: 0.0 if name.endswith("watchdog_left") else sense(subject, name))
            hall.do(SetControl(CDU, "direct"))
            with pytest.raises(WireError, match="another hand is on it: control is direct, and its watchdog has 0 s left"):
                await hall.now_at()
            hall.take_names()
            with pytest.raises(WireError, match="another hand is on it"):
                await hall.put(45.0)
            assert hall.take_names() == []

    run(story)


def test_another_authority_in_the_next_life_goes_on(tmp_path: Path) -> None:
    """Within the watchdog's time; and the other way round."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            async with open_other(hall, tmp_path, "setpoint") as again:
                await again.now_at("setpoint")
                assert await again.hold(23.0, 20, "setpoint") == []
                hall.check("setpoint", "coolant.setpoint", 23.0)
            async with enter_hall(hall, "n0", tmp_path) as back:
                await back.now_at()
                assert await back.hold(50.0, 20) == []
                hall.check("direct", "coolant.valve_command", 50.0)

    run(story)


@asynccontextmanager
async def open_other(hall: Hall, folder: Path, authority: str) -> AsyncIterator[Hall]:
    """The next life, with another authority in the topology."""
    node, change = hall.bench.node, msgspec.structs.replace
    loops = tuple(change(loop, authority=Authority(authority)) for loop in node.topology.loops)
    hall.bench.node = dataclasses.replace(node, topology=change(node.topology, loops=loops))
    async with enter_hall(hall, "n0", folder) as again:
        hall.bench.node = node
        yield again


@pytest.mark.parametrize("name", ["n0", "n1"])
def test_what_a_life_that_crashed_has_left_is_given_back_in_observe_by_whoever_engaged_it(tmp_path: Path, name: str) -> None:
    async def story() -> None:
        other = make_folder(tmp_path, "n1")
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.hold(45.0, 3)
            folder = tmp_path if name == "n0" else other
            async with enter_hall(hall, name, folder) as again, steer(again, folder, Mode.OBSERVE):
                hall.take_names()
                await asyncio.sleep(3.0)
                assert hall.truth("coolant.control") == ("auto" if name == "n0" else "direct")
                assert hall.take_names() == (["SetControl"] if name == "n0" else [])
                await asyncio.sleep(30.0)
                assert "SetValve" not in hall.take_names()

    run(story)


def test_what_was_handed_back_is_not_left_also_where_that_cannot_be_written_down(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            valve = hall.handle("valve")
            assert isinstance(valve, LeadHandle)
            assert not await valve.is_left()
            await hall.now_at()
            await hall.hold(45.0, 2)
            assert await valve.is_left()
            await asyncio.sleep(16.0)
            hall.bench.wires.refusals[CDU] = "the lease has ended"
            sight = await valve.hand_back(CDU)
            assert sight.effect is Effect.PRESENT
            assert "that it was ours could not be struck out: " in sight.text
            del hall.bench.wires.refusals[CDU]
            assert (await valve.hand_back(CDU)).text == "it has its own control, at 22 C"
            assert not await valve.is_left()

    run(story)


def test_a_valves_put_under_way_while_the_pumps_are_yielded_ends_without_a_heartbeat(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.hold(45.0, 2)
            await hall.now_at("pump")
            await hall.put(80.0, "pump")
            hall.do(SetPump(CDU, 0, 60.0))
            hall.bench.devices[CDU].impairment.delay_s = 0.05
            hall.take_names()
            told = await asyncio.gather(hall.put(46.0), hall.put(81.0, "pump"), return_exceptions=True)
            assert [type(one) for one in told] == [YieldedError, YieldedError]
            assert "Beat" not in hall.take_names()

    run(story)
