"""Half an output, a busy card and numbers that are none: nothing of it becomes a value, and nothing of it blinds others."""

from __future__ import annotations

import asyncio

import pytest

from supernoded.plugin import Node, State, WireError
from supernoded.testing import Answer, ManualClock, MemoryWires
from supernoded.wire.ports import Command
from supernoded_ascend.asking import BusyError
from supernoded_ascend.card_readings import parse_ecc
from supernoded_ascend.fitting import fit_sensors
from supernoded_ascend.npu_table import parse_table
from supernoded_ascend.port_sensors import Cards
from supernoded_ascend.questions import Question, Questioner
from supernoded_ascend.ring_answers import parse_check
from supernoded_ascend.settings import AscendSettings
from supernoded_ascend.words import parse_link, parse_speed

TABLE = """\
| NPU   Name   | Health | Power(W) |
| Chip  Phy-ID | Bus-Id | AICore(%) |
+==============+========+===========+
| 0  A         | OK     | 160 |
| 0  0         | 0:0:0  | 1   |
+==============+========+===========+
"""
PROCESSES = "| NPU     Chip | Process id |\n"


async def test_a_card_that_a_table_cut_short_does_not_show_is_not_gone(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    npu_smi = supernoded_wires.command(["npu-smi"])
    sensor = next(one for one in fit_sensors(AscendSettings(), supernoded_node) if one.name == "ascend.cards")
    found = {}
    for text in (TABLE, TABLE + PROCESSES):
        npu_smi.answer = lambda words, text=text: Answer(0, text, "", truncated=False)
        found[text] = {one.subject: one for one in await sensor.read() if one.quantity == "card.present"}["n0/card5"]
    assert found[TABLE].state is State.UNKNOWN
    assert "cut short" in found[TABLE].note
    assert found[TABLE + PROCESSES].value == 0.0
    assert not parse_table(TABLE).whole


def test_half_a_sum_of_errors_is_none() -> None:
    text = "DDR Double Bit Error Count : NA\nHBM Double Bit Error Count : {}\nSRAM Double Bit Error Count : 2\n"
    values = [parse_ecc(text.format(count), 7.0, "n0/card0")[1] for count in ("3", "NA", "?!", "-1")]
    assert [one.value for one in values] == [5.0, 2.0, None, None]
    assert "?!" in values[2].note


@pytest.mark.parametrize("speed", ["-1", "0"])
def test_a_speed_that_is_none(speed: str) -> None:
    (reading,) = parse_speed(f"Speed: {speed} Mb/s\n", 7.0, "p")
    assert (reading.state, reading.note) == (State.UNKNOWN, f"a speed of {speed}: the link has none now")


def test_a_ring_larger_than_any_is_not_laid_out() -> None:
    closed, _ = parse_check(f"ring status: ok\nnodes: [{'0,...,99999,' * 50_000}9]", ["a", "b"], 7.0, "ring/r")
    assert closed.state is State.UNKNOWN


class SlowCommand:
    """Answers when it is let."""

    def __init__(self) -> None:
        self.let, self.at_once, self.most = asyncio.Event(), 0, 0

    async def run(self, *arguments: str, within: float = 10.0) -> Answer:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await self.let.wait()
        self.at_once -= 1
        return Answer(0, f"link status: UP {within:g}\n", "", truncated=False)

    async def order(self, scope: str, *arguments: str, within: float = 10.0) -> Answer:
        raise WireError(scope)


async def test_a_card_is_asked_one_question_at_a_time_and_waiting_costs_the_run_nothing() -> None:
    command = SlowCommand()

    def make_command(_: int) -> Command:
        return command

    cards = Cards(make_command, (), 5.0)
    asked = [asyncio.ensure_future(cards.ask(0, ["-link"])) for _ in range(3)]
    await asyncio.sleep(0)
    command.let.set()
    assert await asyncio.gather(*asked) == ["link status: UP 5"] * 3
    assert command.most == 1


async def test_a_card_that_is_busy_is_not_at_fault(supernoded_clock: ManualClock) -> None:
    cards = Cards(lambda _: SlowCommand(), (), 0.01)
    first = asyncio.ensure_future(cards.ask(0, ["-optical"]))
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="card 0 was still answering another question"):
        await cards.ask(0, ["-link"])
    first.cancel()

    questioner, runs = Questioner(supernoded_clock), list[str]()

    async def run(words: tuple[str, ...] | list[str] | object) -> str:
        runs.append(f"{words}")
        await supernoded_clock.advance(4.0)
        raise BusyError("busy")

    asked = [("p", Question(("-link",), parse_link, "link.state"))]
    for _ in range(2):
        (reading,), _ = await questioner.ask("n0/card0", run, asked)
        assert (reading.state, reading.note) == (State.UNKNOWN, "busy")
    assert len(runs) == 2  # it is not left alone for a while, as one is that fails


def test_each_sensor_has_the_time_that_its_runs_may_take(supernoded_node: Node) -> None:
    settings = AscendSettings(second_port=("-port", "1"), timeout_s=4.0)
    sensors = {sensor.name: sensor for sensor in fit_sensors(settings, supernoded_node)}
    assert sensors["ascend.link"].timeout >= 2 * 2 * (4.0 + 4.0 + 1.0)  # questions, ports; the turn, the run, its end
    assert sensors["ascend.cards"].timeout >= 10 * 4.0
    assert sensors["ascend.neighbours"].period == 15.0
