"""A line without faults: who hears what, silences, collisions."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.bus import Line, Pace, Reply
from sim_hardware.bus.rtu import compute_crc, decode_frame, encode_frame
from sim_hardware.loop import SimLoop
from tests.sim.bus.masters import COIL, READ, Counting, Master, make_line, run

FIRST = encode_frame(5, b"\x03\x02\x00\x01")


def test_a_unit_answers_its_own_id_alone() -> None:
    async def scenario() -> None:
        line, units = make_line(units=(5, 6))
        master = Master(line)
        assert await master.ask(5) == FIRST
        assert units[6].heard == []
        assert await master.ask(7) == b""
        assert len(units[5].heard) == 1
        assert line.record.counts["frames"] == 3

    run(scenario())


def test_a_broadcast_is_heard_by_all_and_answered_by_none() -> None:
    async def scenario() -> None:
        line, units = make_line(units=(5, 6))
        line.attach(7, lambda unit, pdu: Reply(pdu))  # one that would answer even this
        master = Master(line)
        assert await master.ask(0, COIL) == b""
        assert units[5].heard == units[6].heard == [COIL]
        assert line.record.counts["broadcasts"] == 1

    run(scenario())


def test_a_unit_does_not_take_its_own_answer_for_a_request() -> None:
    async def scenario() -> None:
        line, units = make_line()
        master = Master(line)
        assert await master.ask(5, COIL) == encode_frame(5, COIL)
        assert units[5].heard == [COIL]

    run(scenario())


def test_a_wrong_checksum_gets_no_answer() -> None:
    async def scenario() -> None:
        line, units = make_line()
        master = Master(line)
        master.port.write(encode_frame(5, READ)[:-1] + b"\x00")
        assert await master.listen() == b""
        assert units[5].heard == []
        assert line.record.counts["frames.bad"] == 1

    run(scenario())


@pytest.mark.parametrize(("pause", "answered"), [(1.4, True), (1.6, False), (3.4, False)])
def test_a_silence_inside_a_frame(pause: float, answered: bool) -> None:
    """More than t1.5 breaks it; the rest is then no frame by itself either."""

    async def scenario() -> None:
        line, _ = make_line(pace=Pace(9600))
        master = Master(line)
        frame = encode_frame(5, READ)
        end = line.say(master.port.name, frame[:4])
        await asyncio.sleep(end - asyncio.get_running_loop().time() + pause * line.pace.character_s)
        master.port.write(frame[4:])
        assert bool(await master.listen()) is answered
        assert line.record.counts["frames.broken"] == int(not answered)
        assert line.record.counts["frames.bad"] == 0

    run(scenario())


def test_a_line_that_never_comes_to_rest_has_no_frame() -> None:
    async def scenario() -> None:
        line, units = make_line(pace=Pace(4_000_000))
        master = Master(line)
        master.port.write(encode_frame(5, READ) + bytes(14_000))
        await master.listen()
        assert units[5].heard == []
        assert line.record.counts["frames.broken"] == 1

    run(scenario())


@pytest.mark.parametrize(
    ("baud", "silence_ms", "answered"), [(9600, 3.5, False), (9600, 3.8, True), (115200, 1.7, False), (115200, 1.8, True)]
)
def test_a_silence_between_frames(baud: int, silence_ms: float, answered: bool) -> None:
    """Two requests to others: with less than t3.5 between them they are one frame, and wrong."""

    async def scenario() -> int:
        line, units = make_line(pace=Pace(baud))
        master = Master(line)
        end = line.say(master.port.name, encode_frame(9, READ))
        await asyncio.sleep(end - asyncio.get_running_loop().time() + silence_ms / 1000)
        await master.ask(5)
        return len(units[5].heard)

    assert run(scenario()) == int(answered)


@pytest.mark.parametrize(("unit", "reached"), [(5, True), (6, False)])
def test_a_request_close_behind_an_answer_reaches_none_but_the_unit_that_answered(unit: int, reached: bool) -> None:
    """Its receiver was off, so the request is whole to it alone; to all others it is the tail of the answer."""

    async def scenario() -> None:
        line, units = make_line(units=(5, 6))
        master = Master(line)
        master.port.write(encode_frame(5, READ))
        await master.news.wait()
        before = len(units[unit].heard)
        master.chunks.clear()
        master.port.write(encode_frame(unit, READ))
        assert bool(await master.listen()) is reached
        assert len(units[unit].heard) - before == int(reached)
        assert line.record.counts["frames.bad"] == 1

    run(scenario())


def test_two_masters_at_once_hear_garbage_and_nobody_is_understood() -> None:
    async def scenario() -> None:
        line, units = make_line()
        one, other = Master(line), Master(line)
        one.port.write(encode_frame(5, READ))
        other.port.write(encode_frame(5, READ))
        assert await one.listen() != encode_frame(5, READ)
        assert len(one.heard) == len(other.heard) == 8
        assert units[5].heard == []
        assert line.record.counts["bytes.collided"] == 16
        assert await one.ask(5) == FIRST  # well again

    run(scenario())


def test_only_what_overlaps_is_garbage() -> None:
    async def scenario() -> None:
        line, _ = make_line(pace=Pace(9600))
        one, other = Master(line), Master(line)
        one.port.write(bytes(10))
        await asyncio.sleep(7.5 * line.pace.character_s)
        other.port.write(bytes(10))
        await one.listen()
        assert line.record.said_by("master 1")[:7] == bytes(7)
        assert 0 not in line.record.said_by("master 1")[7:]
        assert 0 not in line.record.said_by("master 2")[:3]
        assert line.record.said_by("master 2")[3:] == bytes(7)
        assert other.heard == line.record.said_by("master 1")

    run(scenario())


def test_a_unit_that_is_taken_off_is_silent() -> None:
    async def scenario() -> None:
        line, master = Line("test"), None
        detach = line.attach(9, Counting().answer)
        master = Master(line)
        assert await master.ask(9)
        detach()
        assert await master.ask(9) == b""

    run(scenario())


def test_units_are_1_to_247() -> None:
    with pytest.raises(ValueError, match="unit 248 on line test"):
        Line("test").attach(248, lambda unit, pdu: Reply(pdu))


def test_a_closed_port_hears_nothing_and_says_nothing() -> None:
    async def scenario() -> None:
        line, units = make_line()
        master = Master(line)
        master.port.close()
        master.port.close()
        assert await master.ask(5) == b""
        assert master.lost
        assert master.port.is_closing()
        assert units[5].heard == []

    run(scenario())


def test_streams_work_over_a_port() -> None:
    async def scenario() -> None:
        line, _ = make_line()
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        writer = asyncio.StreamWriter(line.connect(protocol), protocol, reader, asyncio.get_running_loop())
        writer.write(encode_frame(5, READ))
        await writer.drain()
        assert await reader.readexactly(7) == FIRST
        writer.close()
        await writer.wait_closed()

    run(scenario())


def test_a_port_that_does_not_read_keeps_what_comes() -> None:
    async def scenario() -> None:
        line, _ = make_line()
        master = Master(line)
        master.port.pause_reading()
        assert await master.ask(5) == b""
        master.port.resume_reading()
        assert await master.listen() == FIRST

    run(scenario())


def test_what_a_killed_process_wrote_is_still_said() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        line, units = make_line()

        async def client() -> None:
            await Master(line).ask(5)

        process = loop.spawn("daemon", client)
        await asyncio.sleep(0.001)
        loop.kill(process)
        await asyncio.sleep(1.0)
        assert units[5].heard == [READ]
        assert line.record.counts["answers"] == 1

    run(scenario())


def test_what_a_talker_has_still_to_say_has_an_end() -> None:
    async def scenario() -> None:
        line, _ = make_line(pace=Pace(9600))
        master = Master(line)
        for _ in range(20):
            master.port.write(bytes(960))  # a second each
        assert line.record.counts["overruns"] == 960 * 9
        await asyncio.sleep(20.0)
        assert line.record.counts["bytes"] == 960 * 11

    run(scenario())


def test_masters_that_came_and_went_are_forgotten() -> None:
    async def scenario() -> int:
        line, _ = make_line()
        for _ in range(50):
            master = Master(line)
            await master.ask(5)
            master.port.close()
        return len(line._wire._free_at)

    assert run(scenario()) <= 2


def test_the_record_has_an_end() -> None:
    async def scenario() -> None:
        line, _ = make_line(pace=Pace(4_000_000))
        master = Master(line)
        master.port.write(bytes(70_000))
        await asyncio.sleep(1.0)
        assert line.record.counts["bytes"] == 70_000
        assert len(line.record.pieces) == 4000

    run(scenario())


@given(st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_bytes_get_an_answer_only_as_a_frame_for_the_unit(data: bytes) -> None:
    async def scenario() -> None:
        line, units = make_line()
        master = Master(line)
        master.port.write(data)
        assert await master.listen() == b""
        assert units[5].heard == []
        assert await master.ask(5) == FIRST

    if len(data) < 4 or compute_crc(data[:-2]) != data[-2:]:
        run(scenario())


@given(st.integers(0, 255), st.binary(min_size=1, max_size=253))
def test_a_frame_comes_back_as_it_went(unit: int, pdu: bytes) -> None:
    assert decode_frame(encode_frame(unit, pdu)) == (unit, pdu)


@given(st.binary(max_size=300))
def test_any_bytes_decode_to_a_right_frame_or_none(data: bytes) -> None:
    adu = decode_frame(data)
    assert adu is None or encode_frame(*adu) == data


def test_the_same_seed_gives_the_same_bytes() -> None:
    def play_once() -> bytes:
        async def scenario() -> bytes:
            line, _ = make_line()
            one, other = Master(line), Master(line)
            one.port.write(bytes(20))
            other.port.write(bytes(20))
            return await one.listen()

        return run(scenario())

    assert play_once() == play_once()


def test_an_exchange_costs_few_turns_of_the_loop() -> None:
    """What makes thousands of exchanges a real second possible: no turn a byte, and none while nobody talks."""

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        line, units = make_line(pace=Pace(9600))
        master = Master(line)
        before = loop.site.turns
        for _ in range(100):
            await master.ask(5)
        assert len(units[5].heard) == 100
        assert loop.site.turns - before <= 100 * 12

    run(scenario())
