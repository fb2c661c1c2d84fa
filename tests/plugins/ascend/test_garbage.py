"""Whatever a tool prints, a parser raises nothing and claims nothing without a reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supernoded_ascend
from supernoded.parts import Source
from supernoded.plugin import Reading, State, Topology, name_neighbour
from supernoded_ascend.card_readings import parse_board, parse_ecc, parse_health, parse_power, parse_temperature, parse_usages, read_chip
from supernoded_ascend.counters import parse_stat
from supernoded_ascend.hccl_log import Told, take_in
from supernoded_ascend.neighbours import parse_lldp
from supernoded_ascend.npu_table import parse_mapping, parse_table
from supernoded_ascend.optical import parse_optical
from supernoded_ascend.records import parse_records
from supernoded_ascend.ring_answers import parse_check, parse_hops
from supernoded_ascend.words import parse_fec, parse_link, parse_probe, parse_speed

PIECES = st.sampled_from(
    [
        "[devid 3]",
        "[device 3]",
        "link status: ",
        "UP",
        "net health status: ",
        "fec mode: ",
        "FEC mode",
        "Speed: ",
        "Mb/s",
        "optical info:\n",
        "present : ",
        "Tx Power",
        "Rx Power1 : ",
        "Rx Los Flag : ",
        "0xff",
        "0x",
        " mW",
        "Media SNR Lane",
        "mac_rx_bad_pkt_num:",
        "current time : ",
        "Wed Aug  2 03:09:26 2022",
        "Wed Feb 31 99:09:26 2022",
        "    LINK DOWN",
        "LINK UP",
        "link up count : ",
        "Port ID TLV\n",
        "\tIfname: ",
        "|",
        "NPU Name",
        "Chip Phy-ID",
        "Health",
        "| NPU   Name | Health | Power(W) Temp(C) |\n| Chip Phy-ID | Bus-Id | HBM-Usage(MB) |\n",
        "| 0 A | OK | 1 2 |\n",
        "| 0 1 | NA | 5/ 6 |\n",
        "Error Code : ",
        "8C03A000",
        "Ring status: OK, nodes: [",
        "0,1,...,",
        "]",
        "Ring broken at node ",
        "Hop 0->1: ",
        " us",
        "mode: ",
        "\n",
        "\r\n",
        "-",
        "NA",
        "\x00",
        "\x1b[31m",
        "。",
        "hccn_tool -i ",
        " -link -g\n",
        "npu-smi info -t health\n",
        "EI0006",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.one_of(PIECES, st.text(max_size=5), st.integers().map(str)), max_size=40).map("".join))

Parse = Callable[[str], list[Reading]]
PARSERS: dict[str, Parse] = {
    "link": lambda text: parse_link(text, 7.0, "p"),
    "speed": lambda text: parse_speed(text, 7.0, "p"),
    "fec": lambda text: parse_fec(text, 7.0, "p"),
    "probe": lambda text: parse_probe(text, 7.0, "p"),
    "records": lambda text: parse_records(text, 7.0, "p"),
    "stat": lambda text: parse_stat(text, 7.0, "p"),
    "optical": lambda text: parse_optical(text, 7.0, "p"),
    "lldp": lambda text: parse_lldp(name_neighbour(Topology(), {}), text, 7.0, "p"),
    "health": lambda text: parse_health(text, 7.0, "c"),
    "ecc": lambda text: parse_ecc(text, 7.0, "c"),
    "board": lambda text: parse_board(text, 7.0, "c"),
    "power": lambda text: parse_power(text, 7.0, "c"),
    "temperature": lambda text: parse_temperature(text, 7.0, "c"),
    "usages": lambda text: parse_usages(text, 7.0, "c"),
    "table": lambda text: [reading for chip in parse_table(text).chips for reading in read_chip(chip, 7.0, "c")],
    "check": lambda text: parse_check(text, ("a", "b", "c"), 7.0, "r"),
}


@pytest.mark.parametrize("name", PARSERS)
@given(text=TEXTS)
def test_parsers(name: str, text: str) -> None:
    for reading in PARSERS[name](text):
        assert (reading.value is None) == (reading.state is State.UNKNOWN)
        assert reading.note or reading.state is State.GOOD
        assert len(reading.note) <= 160


@given(TEXTS)
def test_the_rest(text: str) -> None:
    parse_mapping(text)
    parse_hops(text)
    assert take_in(Told(), text.splitlines()).timeouts >= 0
    for read in supernoded_ascend.supernoded_formats().values():
        assert {reading.at for reading in read(Source(name="x", data=text.encode(errors="replace"), at=7.0))} <= {7.0}


@given(st.binary(max_size=300))
def test_bytes(data: bytes) -> None:
    for read in supernoded_ascend.supernoded_formats().values():
        assert {reading.at for reading in read(Source(name="x", data=data, at=7.0))} <= {7.0}


@pytest.mark.parametrize("name", PARSERS)
def test_a_mebibyte_is_no_trouble(name: str) -> None:
    for piece in ("a", "0", " ", "|", "0 ", "mode: rs ", "[", "x: 1\n", "0,"):
        assert isinstance(PARSERS[name](piece * (2**20 // len(piece))), list)
