"""Who is at the other end."""

from __future__ import annotations

import pytest

from supernoded.plugin import State, Topology, name_neighbour
from supernoded.topology import Cable, Supernode, Switch
from supernoded_ascend.neighbours import parse_lldp

TOPOLOGY = Topology(
    nodes=(Supernode(name="n0", cards=2),),
    switches=(Switch(name="s1"),),
    cables=(Cable(a="n0/card0/port0", b="switch/s1/port12"),),
)
ANSWER = """\
Chassis ID TLV
\tMAC: 00:00:5e:00:53:01
Port ID TLV
\tIfname: {port}
Time to Live TLV
\t120
System Name TLV
\t{system}
System Description TLV
\tSomething: of several
lines, Ifname: 9
End of LLDPDU TLV
"""


@pytest.mark.parametrize(
    ("system", "port", "neighbours", "subject"),
    [
        ("leaf-7", "400GE1/1/5:1", {}, "leaf-7/400GE1/1/5:1"),
        ("leaf-7", "400GE1/1/5:1", {"leaf-7/400GE1/1/5:1": "switch/s1/port5"}, "switch/s1/port5"),
        ("leaf-7", "400GE1/1/5:1", {"400GE1/1/5:1": "switch/s1/port5"}, "switch/s1/port5"),
        ("System Name: n0/card1", "n0/card1/port1", {}, "n0/card1/port1"),
        ("switch/s1", "port12", {}, "switch/s1/port12"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "[devid 0]"])
def test_neighbours(system: str, port: str, neighbours: dict[str, str], subject: str, prefix: str) -> None:
    text = "\n".join(f"{prefix}{line}" for line in ANSWER.format(system=system, port=port).splitlines())
    (reading,) = parse_lldp(name_neighbour(TOPOLOGY, neighbours), text, 7.0, "n0/card0/port0")
    assert (reading.quantity, reading.value, reading.unit) == ("link.neighbour", subject, "text")


def test_a_lone_port_is_one() -> None:
    (reading,) = parse_lldp(name_neighbour(TOPOLOGY, {}), "\tIfname: 400GE1/1/5:1\n", 7.0, "n0/card0/port0")
    assert reading.value == "400GE1/1/5:1"


@pytest.mark.parametrize(
    ("text", "note"),
    [("", "the tool printed nothing about it"), ("no LLDP here\n", "no port is told: 'no LLDP here'"), ("Port ID TLV\n", None)],
)
def test_no_neighbour_is_unknown(text: str, note: str | None) -> None:
    (reading,) = parse_lldp(name_neighbour(TOPOLOGY, {}), text, 7.0, "n0/card0/port0")
    assert reading.state is State.UNKNOWN
    assert reading.note == note or note is None
