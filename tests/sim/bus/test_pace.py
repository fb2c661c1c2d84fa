"""How long frames take: the arithmetic, and the wire itself."""

import asyncio

import pytest

from sim_hardware.bus import Line, Pace, Reply
from sim_hardware.bus.rtu import encode_frame
from tests.sim.bus.masters import COIL, Master, run

# baud, character, 8-byte frame, t3.5, frame + t3.5, + 8-byte reply, a reply with 60 registers; ms, 11 bits a character
TABLE = [
    (9600, 1.146, 9.17, 4.01, 13.2, 22.3, 143.0),
    (19200, 0.573, 4.58, 2.01, 6.6, 11.2, 71.6),
    (38400, 0.286, 2.29, 1.75, 4.04, 6.33, 35.8),
    (57600, 0.191, 1.53, 1.75, 3.28, 4.81, 23.9),
    (115200, 0.095, 0.76, 1.75, 2.51, 3.28, 11.9),
    (230400, 0.048, 0.38, 1.75, 2.13, 2.51, 6.0),
]


@pytest.mark.parametrize("row", TABLE)
def test_the_arithmetic_of_a_line(row: tuple[float, ...]) -> None:
    pace = Pace(int(row[0]), "E")
    mine = [pace.character_s, pace.time_of(8), pace.t35, pace.time_of(8) + pace.t35, pace.time_of(16) + pace.t35, pace.time_of(125)]
    assert [1000 * figure for figure in mine] == pytest.approx(row[1:], rel=0.01)


@pytest.mark.parametrize(("baud", "due"), [(9600, 12.0), (19200, 6.0), (38400, 3.83), (57600, 3.14), (115200, 2.44), (230400, 2.10)])
def test_ten_bits_without_parity(baud: int, due: float) -> None:
    pace = Pace(baud)
    assert pace.text == "8N1"
    assert 1000 * (pace.time_of(8) + pace.t35) == pytest.approx(due, rel=0.01)


@pytest.mark.parametrize("row", TABLE)
def test_the_wire_keeps_the_table(row: tuple[float, ...]) -> None:
    """When the unit may act, when an immediate answer has ended, and how long a long answer holds the line."""
    asked: list[float] = []

    async def scenario() -> tuple[float, float]:
        line = Line("test", Pace(int(row[0]), "E"))

        def answer(unit: int, pdu: bytes) -> Reply:
            asked.append(asyncio.get_running_loop().time())
            return Reply(pdu if pdu[0] == 5 else b"\x03\x78" + bytes(120))

        line.attach(5, answer, turnaround_s=0.0)
        master = Master(line)
        await master.ask(5, COIL)
        short = master.chunks[-1][0]
        await master.ask(5)
        return short, line.record.pieces[-1].end - asked[-1]

    short, long = run(scenario())
    assert 1000 * asked[0] == pytest.approx(row[4], rel=0.01)
    assert 1000 * short == pytest.approx(row[5], rel=0.01)
    assert 1000 * long == pytest.approx(row[6], rel=0.01)


def test_a_line_has_a_sensible_speed() -> None:
    with pytest.raises(ValueError, match="110 baud"):
        Pace(110)


def test_the_master_hears_a_long_answer_as_it_comes() -> None:
    async def scenario() -> list[float]:
        line = Line("test", Pace(9600))
        line.attach(5, lambda unit, pdu: Reply(b"\x03\x78" + bytes(120)))
        master = Master(line)
        await master.ask(5)
        assert len(master.heard) == 125
        return [at for at, _ in master.chunks]

    times = run(scenario())
    assert len(times) == 9
    assert times[1] - times[0] == pytest.approx(14 * 10 / 9600)


def test_what_is_written_in_a_row_is_said_without_a_gap() -> None:
    async def scenario() -> Line:
        line = Line("test", Pace(9600))
        line.attach(5, lambda unit, pdu: Reply(b"\x03\x00"))
        master = Master(line)
        frame = encode_frame(5, COIL)
        master.port.write(frame[:3])
        master.port.write(frame[3:])
        assert await master.listen() == encode_frame(5, b"\x03\x00")
        return line

    pieces = run(scenario()).record.pieces
    assert pieces[1].start == pytest.approx(pieces[0].end)
