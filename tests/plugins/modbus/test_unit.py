"""One device: which one it is, what is read of it, and that a write is believed only when the device shows it."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from supernoded.plugin import NotHeldError, WireError
from supernoded.testing import ManualClock, MemoryWires
from supernoded_modbus.bus import RefusedError
from supernoded_modbus.maps import RegisterMap, read_map
from supernoded_modbus.places import make_blocks
from supernoded_modbus.unit import LOOK_AGAIN_S, Unit
from tests.plugins.modbus.lines import SCOPE, Played, make_bus, make_unit

MAP = read_map(
    b"""
text = "t"
models = ["M-*"]
probes = [{low = "supply", high = "return", least = 5.0, most = 60.0}]
rows = [
    {name = "model", address = 0, kind = "text", length = 2},
    {name = "serial", address = 2, kind = "text", length = 2},
    {name = "supply", address = 10, scale = 0.1},
    {name = "return", address = 11, scale = 0.1},
    {name = "w", address = 20, writable = true, high = 1000.0},
    {name = "w2", address = 21, writable = true, high = 1000.0},
    {name = "slow", address = 30, writable = true, write_s = 5.0},
    {name = "worn", address = 40, writable = true, storage = "eeprom"},
    {name = "told", address = 50, writable = true, confirm = "shown"},
    {name = "shown", address = 51},
    {name = "absent", address = 950},
    {name = "coil", address = 3, table = "coil", kind = "bits", words = {off = 0, on = 1}, writable = true},
    {name = "gone", address = 9, table = "coil", kind = "bits", writable = true},
]
""",
    "t",
)
Run = Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, Any]]


def text(value: str) -> dict[int, int]:
    return dict(enumerate(struct.unpack(">2H", value.encode().ljust(4, b"\0"))))


@pytest.fixture
def played(supernoded_wires: MemoryWires) -> Played:
    played = Played(supernoded_wires)
    name(played, "M-1", "S1")
    played.banks[1].words |= {10: 221, 11: 302}
    return played


@pytest.fixture
def unit(played: Played, supernoded_clock: ManualClock) -> Unit:
    return make(played, supernoded_clock)


@pytest.fixture
def run(supernoded_clock: ManualClock) -> Run:
    """Let it take the time that it needs."""

    async def go(work: Coroutine[Any, Any, Any]) -> Any:
        task = asyncio.create_task(work)
        for _ in range(100):
            if task.done():
                break
            await supernoded_clock.advance(0.1)
        return await task

    return go


def make(played: Played, clock: ManualClock, serial: str = "S1", register_map: RegisterMap = MAP) -> Unit:
    return make_unit(make_bus(played, clock), register_map, clock, serial=serial)


def name(played: Played, model: str, serial: str) -> None:
    played.banks[1].words |= text(model) | {2 + place: word for place, word in text(serial).items()}


def writes(played: Played) -> list[bytes]:
    return [pdu for _, pdu in played.asked if pdu[0] in (5, 16)]


async def test_a_write_is_read_back(unit: Unit, played: Played, run: Run) -> None:
    await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert played.banks[1].words[20] == 7
    assert [pdu[0] for _, pdu in played.asked[-2:]] == [16, 3]


async def test_the_answer_to_a_write_proves_nothing(unit: Unit, played: Played, run: Run) -> None:
    played.spoil = lambda _, pdu: pdu[:5] if pdu[0] == 16 else None  # acknowledged, and not done
    with pytest.raises(WireError, match=r"w shows 8556 .* where 7.0 was written; it takes no such value"):
        await run(unit.write(SCOPE, ("w", -1), 7.0))


async def test_what_was_written_may_take_a_while_to_show(unit: Unit, played: Played, run: Run) -> None:
    looks = [b"\x03\x02\x00\x00", b"\x03\x02\x00\x00"]
    played.spoil = lambda _, pdu: looks.pop() if looks and pdu[:3] == b"\x03\x00\x14" else None
    await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert looks == []
    assert len(writes(played)) == 1


async def test_a_write_without_an_answer_is_read_back_before_it_is_sent_again(unit: Unit, played: Played, run: Run) -> None:
    def lose_the_answer(number: int, pdu: bytes) -> bytes | None:
        if pdu[0] != 16:
            return None
        played.banks[number].answer(number, pdu)
        return b""

    played.spoil = lose_the_answer
    await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert len(writes(played)) == 1


async def test_a_write_that_did_not_arrive_is_sent_once_more(unit: Unit, played: Played, run: Run) -> None:
    lost = [b""]
    played.spoil = lambda _, pdu: lost.pop() if lost and pdu[0] == 16 else None
    await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert played.banks[1].words[20] == 7
    assert len(writes(played)) == 2


async def test_a_refused_write_is_not_repeated(unit: Unit, played: Played, run: Run) -> None:
    played.spoil = lambda _, pdu: b"\x90\x04" if pdu[0] == 16 else None
    with pytest.raises(RefusedError, match="exception 4"):
        await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert len(writes(played)) == 1


async def test_without_the_pen_nothing_is_written(unit: Unit, played: Played, run: Run, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.refusals[SCOPE] = "not ours"
    with pytest.raises(NotHeldError):
        await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert writes(played) == []


async def test_rows_side_by_side_go_in_one_request(unit: Unit, played: Played, run: Run) -> None:
    await run(unit.write_together(SCOPE, {("w2", -1): 2.0, ("w", -1): 1.0}))
    assert [pdu.hex() for pdu in writes(played)] == ["10001400020400010002"]
    with pytest.raises(WireError, match="side by side"):
        await run(unit.write_together(SCOPE, {("w", -1): 1.0, ("slow", -1): 1.0}))


async def test_a_row_may_show_itself_elsewhere(unit: Unit, played: Played, run: Run) -> None:
    played.banks[1].words[51] = 9
    await run(unit.write(SCOPE, ("told", -1), 9.0))
    with pytest.raises(WireError, match=r"shown shows 9\.0 where 8\.0 was written"):
        await run(unit.write(SCOPE, ("told", -1), 8.0))


async def test_coils_are_written_by_word(unit: Unit, played: Played, run: Run) -> None:
    await run(unit.write(SCOPE, ("coil", -1), "on"))
    assert played.banks[1].coils[3] is True
    await run(unit.write(SCOPE, ("coil", -1), "off"))
    assert played.banks[1].coils[3] is False


async def test_a_trigger_is_never_sent_twice(unit: Unit, played: Played, run: Run) -> None:
    played.spoil = lambda _, pdu: b"" if pdu[0] == 5 else None
    with pytest.raises(WireError):
        await run(unit.trigger(SCOPE, ("gone", -1)))
    assert len(writes(played)) == 1
    played.spoil = lambda _, pdu: b"\x85\x05" if pdu[0] == 5 else None  # "acknowledged": it has it, and is at work on it
    await run(unit.trigger(SCOPE, ("gone", -1)))
    assert len(writes(played)) == 2


@pytest.mark.parametrize(
    ("row", "value", "reason"),
    [("w", 1001.0, "takes -inf to 1000"), ("w", float("nan"), "takes"), ("shown", 1.0, "not to be written"), ("none", 1.0, "has no")],
)
async def test_what_a_row_does_not_take_is_refused(unit: Unit, played: Played, run: Run, row: str, value: float, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        await run(unit.write(SCOPE, (row, -1), value))
    assert writes(played) == []


async def test_a_loop_does_not_wear_out_an_eeprom(unit: Unit, played: Played, run: Run) -> None:
    with pytest.raises(WireError, match="EEPROM"):
        await run(unit.write(SCOPE, ("worn", -1), 1.0, cyclic=True))
    assert writes(played) == []
    await run(unit.write(SCOPE, ("worn", -1), 1.0))
    assert len(writes(played)) == 1


async def test_the_least_time_between_two_writes_is_kept(unit: Unit, played: Played, run: Run, supernoded_clock: ManualClock) -> None:
    begun = supernoded_clock.now()
    await run(unit.write(SCOPE, ("slow", -1), 1.0))
    assert supernoded_clock.now() - begun < 1.0
    await run(unit.write(SCOPE, ("slow", -1), 2.0))
    assert supernoded_clock.now() - begun >= 5.0
    assert len(writes(played)) == 2


# which device it is


async def test_another_serial_number_is_neither_read_nor_written(unit: Unit, played: Played, run: Run) -> None:
    name(played, "M-1", "S2")
    with pytest.raises(WireError, match="its serial number is 'S2', declared is 'S1'"):
        await run(unit.write(SCOPE, ("w", -1), 7.0))
    with pytest.raises(WireError, match="declared is 'S1'"):
        await run(unit.know())
    assert unit.member.state == "refused"
    assert writes(played) == []


async def test_another_model_is_another_map(unit: Unit, played: Played, run: Run) -> None:
    name(played, "Q-1", "S1")
    with pytest.raises(WireError, match="its model is 'Q-1', and this register map is for M-"):
        await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert writes(played) == []


async def test_without_a_declared_serial_number_it_is_read_and_not_written(played: Played, run: Run, supernoded_clock: ManualClock) -> None:
    unit = make(played, supernoded_clock, serial="")
    await run(unit.know())
    with pytest.raises(WireError, match="no serial number is declared"):
        await run(unit.write(SCOPE, ("w", -1), 7.0))
    with pytest.raises(WireError, match="no serial number is declared"):
        await run(unit.trigger(SCOPE, ("gone", -1)))
    assert writes(played) == []


@pytest.mark.parametrize(("supply", "back"), [(302, 221), (221, 900), (20, 300), (0xFFFF, 300)])
async def test_what_is_not_plausible_is_not_written(unit: Unit, played: Played, run: Run, supply: int, back: int) -> None:
    played.banks[1].words |= {10: supply, 11: back}
    with pytest.raises(WireError, match="is the register map right"):
        await run(unit.write(SCOPE, ("w", -1), 7.0))
    assert writes(played) == []


async def test_it_is_looked_at_once_and_again_when_it_was_gone(unit: Unit, played: Played, run: Run) -> None:
    await run(unit.write(SCOPE, ("w", -1), 7.0))
    looks = len(played.asked)
    await run(unit.write(SCOPE, ("w", -1), 8.0))
    assert len(played.asked) == looks + 2
    name(played, "M-1", "S2")  # somebody puts another one in its place
    played.spoil = lambda _, pdu: b""
    for _ in range(3):
        with pytest.raises(WireError):
            await run(unit.read([("supply", -1)], urgent=True))
    played.spoil = lambda _, pdu: None
    await run(unit.read([("supply", -1)], urgent=True))
    with pytest.raises(WireError, match="declared is 'S1'"):
        await run(unit.write(SCOPE, ("w", -1), 9.0))


async def test_a_stranger_is_looked_at_again_after_a_while(unit: Unit, played: Played, run: Run, supernoded_clock: ManualClock) -> None:
    name(played, "M-1", "S2")
    with pytest.raises(WireError):
        await run(unit.know())
    name(played, "M-1", "S1")
    with pytest.raises(WireError):
        await run(unit.know())
    await supernoded_clock.advance(LOOK_AGAIN_S)
    await run(unit.know())
    assert unit.member.state == "ok"


async def test_a_poll_of_the_serial_number_sees_an_exchange_too(unit: Unit, played: Played, run: Run) -> None:
    await run(unit.know())
    name(played, "M-1", "S2")
    await run(unit.read([("serial", -1)]))
    with pytest.raises(WireError, match="declared is 'S1'"):
        await run(unit.know())


# what it has not


async def test_a_block_that_is_not_there_is_asked_for_twice(unit: Unit, played: Played, run: Run) -> None:
    (block,) = make_blocks([unit.places["absent", -1]], MAP)
    for _ in range(4):
        with pytest.raises(RefusedError, match="exception 2"):
            await run(unit.read_block(block))
    assert len(played.asked) == 2
    assert (await run(unit.read([("supply", -1)])))["supply", -1].value == 22.1
    unit.member.come_back()
    with pytest.raises(RefusedError):
        await run(unit.read_block(block))
    assert len(played.asked) == 4


async def test_one_stray_refusal_disables_nothing(unit: Unit, played: Played, run: Run) -> None:
    (block,) = make_blocks([unit.places["supply", -1]], MAP)
    strays = list[bytes]()
    played.spoil = lambda _, pdu: strays.pop() if strays else None
    for _ in range(3):
        strays.append(b"\x83\x02")
        with pytest.raises(RefusedError):
            await run(unit.read_block(block))
        assert await run(unit.read_block(block))
