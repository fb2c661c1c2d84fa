"""Recordings: our own small ones, and those of others where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import supernoded_ascend
from supernoded.parts import Source
from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault

Key = tuple[str, str, str]  # source, subject, quantity

NODE = """\
Datetime: 2024-01-01 00:00:00
/usr/local/bin/npu-smi info

/usr/local/Ascend/driver/tools/hccn_tool -i 0 -link -g
link status: UP

usr/local/Ascend/driver/tools/hccn_tool -i 3 -link_stat -g
[devid 3]current time        : Wed Aug  2 03:09:26 2022
[devid 3]link up count       : 2
[devid 3]link change records :
[devid 3]    Wed Aug  2 03:00:00 2022    LINK DOWN
[devid 3]    Tue Aug  1 14:43:26 2022    LINK UP
$ hccn_tool -i 3 -port 1 -net_health -g
net health status: Init
lspci | grep acce
Speed: 1 Mb/s
hccn_tool -i 2 -ip -g

hccn_tool -i 2 -link -s down
link status: DOWN
# hccn_tool -i 5 -speed -g
Speed: 200000 Mb/s
"""


def replay(name: str, text: str | bytes) -> dict[Key, Reading]:
    data = text if isinstance(text, bytes) else text.encode()
    found = list(supernoded_ascend.supernoded_formats()[name](Source(name="x", data=data, at=7.0)))
    assert {reading.at for reading in found} <= {7.0}
    assert all(find_fault(reading) is None for reading in found if reading.state is State.GOOD)
    assert all(reading.note for reading in found if reading.state is State.UNKNOWN)
    return {(reading.source, reading.subject, reading.quantity): reading for reading in found}


def values(found: dict[Key, Reading]) -> dict[Key, object]:
    return {key: reading.value for key, reading in found.items()}


def test_answers_by_their_command_lines() -> None:
    assert values(replay("hccn_tool", NODE)) == {
        ("ascend.link", "n0/card0/port0", "link.state"): 1.0,
        ("ascend.records", "n0/card3/port0", "link.state"): 0.0,
        ("ascend.records", "n0/card3/port0", "link.downed"): 2.0,  # two ups, and down now
        ("ascend.records", "n0/card3/port0", "link.recent_downs"): 1.0,
        ("ascend.probe", "n0/card3/port1", "link.probe"): "starting",
        ("ascend.facts", "n0/card5/port0", "link.speed"): 200.0,
    }


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("link status: DOWN\n", ("ascend.link", "n0/card0/port0", "link.state"), 0.0),
        ("[devid 6]link status: UP\n", ("ascend.link", "n0/card6/port0", "link.state"), 1.0),
        ("packet statistics:\nroce_rx_err_pkt_num:13\n", ("ascend.link", "n0/card0/port0", "link.discards"), 13.0),
        ("fec mode: no FEC mode\n", ("ascend.facts", "n0/card0/port0", "link.fec"), "none"),
        ("\tIfname: 400GE1/1/5:1\n", ("ascend.neighbours", "n0/card0/port0", "link.neighbour"), "400GE1/1/5:1"),
        ("optical info:\npresent : not present\n", ("ascend.optical", "n0/card0/port0", "link.present"), 0.0),
    ],
)
def test_bare_answers(text: str, key: Key, value: object) -> None:
    assert values(replay("hccn_tool", text)) == {key: value}


def test_single_cards_of_npu_smi() -> None:
    text = """\
npu-smi info -i 4 -c 0 -t health
\tHealth Status                  : Alarm
\tError Code                     : 8C03A000
/usr/local/bin/npu-smi info -i 5 -t board
\tNPU ID                         : 5
\tSerial Number                  : SERIAL5
\tPCIe Bus Info                  : 0000:61:00.0
npu-smi info -t health -i 3
Invalid card id.
"""
    found = replay("npu-smi", text)
    assert values(found) == {
        ("ascend.health", "n0/card4", "card.health"): frozenset({"8C03A000"}),
        ("ascend.boards", "n0/card5", "card.serial"): "SERIAL5",
        ("ascend.health", "n0/card3", "card.health"): None,
    }
    bare = values(replay("npu-smi", "\tNPU ID : 6\n\tHealth Status : OK\n\tError Code : NA\n\tChip ID : 0\n"))
    assert bare == {("ascend.health", "n0/card6", "card.health"): frozenset()}


def test_a_log() -> None:
    text = "[ERROR] HCCL(1,x):d [a.cc:1][1] timeout\n[WARNING] HCCL(1,x):d [a.cc:1][1] ring/b runs as star\n"
    assert values(replay("hccl-log", text)) == {
        ("ascend.log", "n0", "comm.timeouts"): 1.0,
        ("ascend.log", "n0", "comm.last_error"): "[ERROR] HCCL(1,x):d [a.cc:1][1] timeout",
        ("ascend.log", "ring/b", "ring.mode"): "star",
    }


def test_eight_recorded_cards(recordings: Path) -> None:
    found = replay("hccn_tool", (recordings / "ascend" / "hccn_8npu_before.txt").read_bytes())
    for card in range(8):
        port = f"n0/card{card}/port0"
        assert found["ascend.link", port, "link.discards"].value == 0.0
        assert [found["ascend.records", port, name].value for name in ("link.state", "link.downed", "link.recent_downs")] == [1.0, 1.0, 0.0]


def test_the_recorded_module_that_contradicts_itself(recordings: Path) -> None:
    found = replay("hccn_tool", (recordings / "ascend" / "npu_info_before__faults.txt").read_bytes())
    port = "n0/card0/port0"
    optical = {
        (subject.removeprefix(port), quantity): one for (source, subject, quantity), one in found.items() if source == "ascend.optical"
    }
    assert optical["", "link.present"].value == 0.0
    assert "of its readings are live" in optical["", "link.present"].note
    low, high = optical["", "link.rx_power.low"].value, optical["", "link.tx_power.high"].value
    assert isinstance(low, float)
    assert isinstance(high, float)
    received = [optical[f"/lane{lane}", "link.rx_power"].value for lane in range(4)]
    sent = [optical[f"/lane{lane}", "link.tx_power"].value for lane in range(4)]
    assert [isinstance(value, float) and value < low for value in received] == [False, True, False, False]
    assert [isinstance(value, float) and value > high for value in sent] == [True, False, False, False]
    for place in ("", "/lane0", "/lane1", "/lane2", "/lane3"):
        assert optical[place, "link.los"].value == frozenset({"rx-los", "rx-lol"})
    assert optical["/lane0", "x.ascend.host_snr"].state is State.UNKNOWN
    assert found["ascend.facts", port, "link.fec"].value == "none"
    assert found["ascend.probe", port, "link.probe"].value == "failed"
    assert ("ascend.facts", port, "link.speed") not in found


def test_recorded_cards_of_a_tool_that_printed_nothing(recordings: Path) -> None:
    found = replay("npu-smi", (recordings / "ascend" / "npu_info_before__faults.txt").read_bytes())
    assert values(found) == {
        ("ascend.health", "n0/card0", "card.health"): frozenset(),
        ("ascend.boards", "n0/card0", "card.serial"): None,
        ("ascend.cards", "n0/card0", "card.utilisation"): 0.0,
        ("ascend.cards", "n0/card0", "card.memory_used"): 0.0,
        ("ascend.cards", "n0/card0", "card.memory_total"): 31129 * 2.0**20,
    }


def test_recorded_answers_of_the_manual(recordings: Path) -> None:
    found = {
        (subject, quantity): one.value
        for (_, subject, quantity), one in replay("hccn_tool", (recordings / "ascend" / "hccn_doc_examples.txt").read_bytes()).items()
    }
    assert {
        quantity: found["n0/card0/port0", quantity] for quantity in ("link.state", "link.fec", "link.speed", "link.probe", "link.downed")
    } == {
        "link.state": 1.0,
        "link.fec": "rs-fec",
        "link.speed": 100.0,
        "link.probe": "starting",
        "link.downed": 1.0,
    }


def test_two_recorded_chips_to_an_npu(recordings: Path) -> None:
    found = replay("npu-smi", (recordings / "ascend" / "npu_smi_info_A3_25.3.rc1_excerpt.txt").read_bytes())
    cards = {subject for _, subject, _ in found}
    assert cards == {f"n0/card{number}" for number in (0, 1, 2, 3, 8, 9, 14, 15)}
    for card in cards:
        watts, second = found["ascend.cards", card, "card.power"], int(card.removeprefix("n0/card")) % 2
        assert (watts.state is State.UNKNOWN) == bool(second)
        assert found["ascend.cards", card, "card.health"].value == frozenset()
        assert found["ascend.cards", card, "card.memory_total"].value == 2.0**36
    assert found["ascend.cards", "n0/card8", "card.memory_used"].value == 58072 * 2.0**20


def test_a_recorded_small_module_in_normal_use(recordings: Path) -> None:
    found = {
        quantity: one
        for (_, _, quantity), one in replay("npu-smi", (recordings / "ascend" / "npu_smi_info_310B4_alarm.txt").read_bytes()).items()
    }
    assert found["card.health"].value == frozenset({"alarm"})
    assert found["card.power"].state is State.UNKNOWN
    assert found["card.temperature"].value == 65.0
