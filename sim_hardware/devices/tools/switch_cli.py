"""`switch_cli SWITCH WORDS`: a switch's own command line, as one reaches it from a node, in the founding documents' syntax (N4, N5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.gauges import read_number, show
from sim_hardware.devices.tools.words import Run, ToolState

ASK_S = 0.2  # of a session, ours
UNREACHABLE = 255  # of ssh
PRIORITY = 4  # of RoCE (N4)


def switch_cli(argv: Sequence[str], panel: Panel, _node: str, _state: ToolState) -> Run:
    """`display congestion` and `display counters`. Codes: 0, 1 not understood, 255 no such switch."""
    name, words = (argv[0] if argv else ""), " ".join(argv[1:])
    if name not in {switch.name for switch in panel.rack.switches}:
        return Run(UNREACHABLE, err=f"switch_cli: connect to {name or 'nobody'}: no route to host\n", seconds=ASK_S)
    display = _DISPLAYS.get(words)
    if display is None:
        return Run(1, f"Error: Unrecognized command found: {words}\n", seconds=ASK_S)
    return Run(0, display(panel, f"switch/{name}"), seconds=ASK_S)


def _display_congestion(panel: Panel, switch: str) -> str:
    """The lines that set it, as a configuration shows them."""
    pfc, ecn, marks = (read_number(panel, switch, f"switch.{name}") for name in ("pfc_threshold", "ecn_threshold", "ecn"))
    lines = [] if pfc is None else [f"pfc priority {PRIORITY} buffer-size {pfc:.0f}"]
    lines += [] if marks is None else ["ecn enable" if marks == 1.0 else "undo ecn enable"]
    lines += [] if ecn is None else [f"ecn threshold {ecn:.0f}"]
    return "".join(f"{line}\n" for line in lines)


def _display_counters(panel: Panel, switch: str) -> str:
    return "".join(f"{name} {show(read_number(panel, switch, f'switch.{name}'), missing='-')}\n" for name in ("drops", "marks", "pauses"))


_DISPLAYS: dict[str, Callable[[Panel, str], str]] = {
    "display congestion": _display_congestion,
    "display counters": _display_counters,
}
