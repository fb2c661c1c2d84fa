"""One owner of one line: who comes first, who is left alone, what is counted."""

from __future__ import annotations

import asyncio

import pytest

from supernoded.plugin import NotHeldError, WireError
from supernoded.testing import ManualClock, MemoryWires
from supernoded_modbus.bus import Bus, Pace, RefusedError
from supernoded_modbus.frames import ask_for, tell_coil
from supernoded_modbus.member import DEAD_SHARE, DORMANT_AFTER, Member
from supernoded_modbus.turns import Turns
from tests.plugins.modbus.lines import SCOPE, Played, make_bus
from tests.plugins.modbus.torture import make_map

READ = ask_for("holding", 0, 1)
BUSY, NO_TARGET = b"\x83\x06", b"\x83\x0b"


def join(bus: Bus, number: int = 1, subject: str = "") -> Member:
    member = Member(number, subject or f"pdu/{number}", make_map())
    bus.join(member)
    return member


async def fail(bus: Bus, member: Member, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(WireError):
            await bus.ask(member, READ, urgent=True)


async def test_orders_go_before_polls() -> None:
    turns, seen = Turns(), list[str]()

    async def go(name: str, *, urgent: bool) -> None:
        async with turns.take(urgent=urgent):
            seen.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(go("first", urgent=False), go("poll 1", urgent=False), go("poll 2", urgent=False), go("order", urgent=True))
    assert seen == ["first", "order", "poll 1", "poll 2"]


async def test_who_gives_up_waiting_takes_no_turn() -> None:
    turns, seen = Turns(), list[str]()

    async def go(name: str) -> None:
        async with turns.take(urgent=False):
            seen.append(name)

    async with turns.take(urgent=False):
        waiting = [asyncio.create_task(go(name)) for name in ("a", "b", "c")]
        await asyncio.sleep(0)
        waiting[0].cancel()
    waiting[1].cancel()  # its turn has come in this very moment
    await asyncio.gather(*waiting, return_exceptions=True)
    assert seen == ["c"]
    async with asyncio.timeout(1), turns.take(urgent=False):
        seen.append("free")
    assert seen == ["c", "free"]


async def test_a_dead_unit_is_left_alone_after_ten_failures(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires, (2,))
    bus = make_bus(played, supernoded_clock)
    dead, well = join(bus), join(bus, 2)
    await fail(bus, dead, DORMANT_AFTER)
    assert (dead.state, bus.state, dead.counts["timeouts"]) == ("dormant", "ok", DORMANT_AFTER)
    asked = len(played.asked)
    with pytest.raises(WireError, match=r"pdu/1 .*left alone but for a probe"):
        await bus.ask(dead, READ)
    assert len(played.asked) == asked
    assert await bus.ask(well, READ)


async def test_dead_units_take_a_tenth_of_the_time_at_most(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    """However often they are polled, and however many they are."""
    played = Played(supernoded_wires, ())
    bus = make_bus(played, supernoded_clock)
    members = [join(bus, number) for number in range(1, 6)]
    for member in members:
        await fail(bus, member, DORMANT_AFTER)
    await supernoded_clock.advance(100.0)
    asked, begun = len(played.asked), supernoded_clock.now()
    for _ in range(1000):
        for member in members:
            with pytest.raises(WireError):
                await bus.ask(member, READ)
        await supernoded_clock.advance(0.1)
    probes = len(played.asked) - asked
    cost = members[0].latest_s + 16 * 11 / 115200
    assert len({unit for unit, _ in played.asked[asked:]}) == len(members)
    assert len(members) < probes <= DEAD_SHARE * (supernoded_clock.now() - begun) / cost + len(members)


async def test_a_unit_that_comes_back_lives_anew(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    played.spoil = lambda unit, pdu: b""
    await fail(bus, member, DORMANT_AFTER)
    played.spoil = lambda unit, pdu: None
    await supernoded_clock.advance(60.0)
    life = member.life
    assert await bus.ask(member, READ)
    assert (member.state, member.failures, member.life) == ("ok", 0, life + 1)


async def test_one_failure_is_no_death(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    played.spoil = lambda unit, pdu: b""
    await fail(bus, member)
    played.spoil = lambda unit, pdu: None
    life = member.life
    assert await bus.ask(member, READ)
    assert member.life == life


async def test_a_busy_device_is_asked_again_and_lives(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played, answers = Played(supernoded_wires), [BUSY, b"\x83\x05", None]
    played.spoil = lambda unit, pdu: answers.pop(0)
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    asking = asyncio.create_task(bus.ask(member, READ))
    await supernoded_clock.advance(1.0)
    assert await asking
    assert (member.failures, member.counts["exceptions"], member.counts["timeouts"]) == (0, 2, 0)


async def test_one_that_stays_busy_is_refused(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    played.spoil = lambda unit, pdu: BUSY
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    asking = asyncio.create_task(bus.ask(member, READ))
    await supernoded_clock.advance(1.0)
    with pytest.raises(RefusedError, match=r"exception 6 \(busy\)"):
        await asking
    assert len(played.asked) == 3
    assert member.state == "ok"


async def test_a_gateways_word_that_a_unit_is_silent_is_no_time_out(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    played.spoil = lambda unit, pdu: NO_TARGET
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    await fail(bus, member, DORMANT_AFTER)
    assert member.state == "dormant"
    assert (member.counts["timeouts"], member.counts["exceptions"], member.counts["exchanges"]) == (0, DORMANT_AFTER, DORMANT_AFTER)


async def test_exceptions_are_no_failures(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    played.spoil = lambda unit, pdu: b"\x83\x02"
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    await fail(bus, member, DORMANT_AFTER + 1)
    assert member.state == "ok"


async def test_an_order_that_the_pen_refuses_is_no_failure(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    supernoded_wires.refusals[SCOPE] = "another has it"
    with pytest.raises(NotHeldError, match="another has it"):
        await bus.ask(member, tell_coil(5, on=True), SCOPE)
    with pytest.raises(NotHeldError):
        await bus.broadcast(SCOPE, tell_coil(5, on=True))
    assert played.asked == []
    assert member.failures == 0


async def test_an_order_goes_out_even_to_a_dormant_unit(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    played.spoil = lambda unit, pdu: b""
    await fail(bus, member, DORMANT_AFTER)
    played.spoil = lambda unit, pdu: None
    await bus.ask(member, tell_coil(5, on=True), SCOPE)
    assert played.banks[1].coils == {5: True}


async def test_a_line_on_which_nobody_answers_is_lost(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    bus = make_bus(Played(supernoded_wires, ()), supernoded_clock)
    members = [join(bus, 1), join(bus, 2)]
    assert bus.state == "ok"
    for member in members:
        await fail(bus, member, 3)
    assert bus.state == "lost"


async def test_a_line_that_was_opened_anew_may_lead_to_other_devices(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    await bus.ask(member, READ)
    assert member.life == 0
    played.line.counts["losses"] += 1
    await bus.ask(member, READ)
    assert member.life == 1


async def test_every_kind_of_failure_has_its_count(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    played = Played(supernoded_wires)
    bus = make_bus(played, supernoded_clock)
    member = join(bus)
    said = [b"", b"\x01\x03\x02\x00\x00\xff\xff", b"\x02\x03\x02\x00", None]
    played.line.answer = lambda request: request + b"x" if said[0] is None else said[0]
    for _ in range(len(said)):
        await fail(bus, member)
        said.pop(0)
    assert dict(member.counts) == {"exchanges": 4, "timeouts": 1, "crc_errors": 1, "strays": 1, "echo_errors": 1}
    assert bus.counts == member.counts


async def test_two_devices_of_one_number_are_refused(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    bus = make_bus(Played(supernoded_wires), supernoded_clock)
    join(bus, 1, "pdu/A1")
    with pytest.raises(WireError, match="pdu/A1 and pdu/A2 are both unit 1"):
        join(bus, 1, "pdu/A2")


async def test_every_transaction_over_tcp_has_its_own_number(supernoded_wires: MemoryWires, supernoded_clock: ManualClock) -> None:
    line = supernoded_wires.line("tcp://10.0.0.7:502")
    line.answer = lambda request: request[:4] + b"\x00\x05\x01\x03\x02\x00\x07"
    bus = Bus(line, Pace(tcp=True), supernoded_clock)
    member = join(bus)
    for _ in range(3):
        assert (await bus.ask(member, READ)).hex() == "03020007"
    assert [request[:2].hex() for request in line.sent] == ["0001", "0002", "0003"]
