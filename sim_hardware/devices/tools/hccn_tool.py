"""`hccn_tool -i CARD -WHAT -g`: what a card knows of its network port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.arguments import UsageError, parse, parse_slot
from sim_hardware.devices.tools.gauges import count_cards, is_present, read_number, read_text, touch
from sim_hardware.devices.tools.hccn_optical import print_optical
from sim_hardware.devices.tools.hccn_records import print_link_stat, print_stat
from sim_hardware.devices.tools.words import Run, ToolState

QUERY_S = 0.08  # ours
SETTLE_S = 20.0  # after a boot the network is not yet judged, ours


@dataclass(frozen=True)
class Question:
    """What is asked of which port, and where to look."""

    panel: Panel
    node: str
    slot: int
    port: int
    state: ToolState

    @property
    def subject(self) -> str:
        """The port."""
        return f"{self.node}/card{self.slot}/port{self.port}"

    def number(self, quantity: str) -> float | None:
        """A number of the port."""
        return read_number(self.panel, self.subject, quantity)

    def text(self, quantity: str, missing: str = "NA") -> str:
        """A text of the port."""
        return read_text(self.panel, self.subject, quantity, missing)


def hccn_tool(argv: Sequence[str], panel: Panel, node: str, state: ToolState) -> Run:
    """What the vendor's tool prints. `-port 1` asks the second port, which the real tool has no word for. Codes: 0 and 1."""
    try:
        kind, slot, port = _parse(argv, panel, node)
    except UsageError as error:
        names = "|".join(name.removeprefix("-") for name in _KINDS)
        return Run(1, err=f"hccn_tool: wrong parameter: {error}\nusage: hccn_tool -i CARD -{{{names}}} -g\n", seconds=0.01)
    if not is_present(panel, node, slot):
        return Run(1, err=f"hccn_tool: device {slot} is not ready, ret 19\n", seconds=QUERY_S)
    touch(panel, f"{node}/card{slot}")
    return Run(0, _KINDS[kind](Question(panel, node, slot, port, state)), seconds=QUERY_S)


def _parse(argv: Sequence[str], panel: Panel, node: str) -> tuple[str, int, int]:
    """What is asked, of which slot and port. Raises UsageError."""
    options = parse(argv, frozenset({"-i", "-port"}), frozenset(_KINDS) | {"-g"})
    kinds = [name for name in options if name in _KINDS]
    if len(kinds) != 1 or "-g" not in options:
        raise UsageError(" ".join(argv) or "nothing")
    return kinds[0], parse_slot(options.get("-i", "nothing"), count_cards(panel, node)), parse_slot(options.get("-port", "0"), 2)


def _print_link(question: Question) -> str:
    state = question.number("link.state")
    return "" if state is None else f"link status: {'UP' if state == 1.0 else 'DOWN'}\n"


def _print_health(question: Question) -> str:
    """The tool asks a fixed peer over the port; a link that is down is a fault, one just after boot not yet anything."""
    up_s, state = read_number(question.panel, question.node, "node.up_s"), question.number("link.state")
    word = "Socket failed" if state is None else "Success" if state == 1.0 else "Fault"
    return f"net health status: {'Init' if up_s is not None and up_s < SETTLE_S else word}\n"


def _print_fec(question: Question) -> str:
    mode = question.text("link.fec.mode", "no").lower()
    return f"fec mode: {'rs' if mode.startswith('rs') else 'no'} FEC mode\n"


def _print_speed(question: Question) -> str:
    speed = question.number("link.speed")
    return f"Speed: {'Unknown' if not speed else f'{speed * 1000:.0f} Mb/s'}\n"


def _print_address(question: Question) -> str:
    """Nothing at all where none is set, as the real tool."""
    address = question.text("link.ip", "").partition("/")[0]
    return f"ipaddr:{address}\nnetmask:255.255.255.0\n" if address else ""


def _print_neighbour(question: Question) -> str:
    name = question.text("link.neighbour", "")
    if not name:
        return "no LLDP neighbour found\n"
    rows = [
        ("Chassis ID TLV", f"MAC: {question.text('link.neighbour_mac')}"),
        ("Port ID TLV", f"Ifname: {name}"),
        ("Time to Live TLV", "Time to Live: 120"),
        ("System Name TLV", f"System Name: {name.rpartition('/')[0]}"),
    ]
    return "".join(f"{title}\n\t{value}\n" for title, value in rows)


_KINDS: dict[str, Callable[[Question], str]] = {
    "-link": _print_link,
    "-link_stat": lambda question: print_link_stat(question.panel, question.subject, question.slot, question.state),
    "-stat": lambda question: print_stat(question.panel, question.subject),
    "-optical": lambda question: print_optical(question.panel, question.subject),
    "-net_health": _print_health,
    "-fec": _print_fec,
    "-lldp": _print_neighbour,
    "-speed": _print_speed,
    "-ip": _print_address,
}
