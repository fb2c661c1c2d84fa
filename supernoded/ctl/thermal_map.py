"""The heat map and the strips of `supernodectl thermal`, drawn for as many columns as there are. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from supernoded.ctl.printing import escape_controls
from supernoded.ctl.wording import NONE
from supernoded.messages import CardHeat, Fan, NodeHeat, Track

UNKNOWN = "?"  # a card of which no temperature is known: never drawn as a cold one
THROTTLED = "!"
WARM, HOT = 70.0, 80.0  # C from which a card is drawn in yellow, and in red (ours; what is too hot the rules say)
GAP = 2  # between a name, cells and what stands behind them
NAME = "NODE"
BARS = "▁▂▃▄▅▆▇█"
LONGEST_STRIP, SHORTEST_STRIP = 60, 10  # columns
# The least that a strip spans, so that the last digit of a steady value does not look like a storm: the whole band (T5), and the like.
LEAST_SPAN = {"C": 0.6, "%": 5.0, "L/min": 10.0, "kPa": 5.0, "W": 10_000.0}


@dataclass(frozen=True)
class HeatMap:
    """One row a node, one cell a card: C, or W. `!` behind it = throttled, `?` = not known."""

    nodes: Sequence[NodeHeat]
    watts: bool = False

    def draw(self, width: int) -> Sequence[Text]:
        """Cells that do not fit go on in the next line; what is known of the node then has a line of its own."""
        cells = [[_to_cell(card, watts=self.watts) for card in node.cards] for node in self.nodes]
        most = max(map(len, cells), default=0)
        cell = max(2, *(len(one) for row in cells for one, _ in row), len(str(most - 1))) + 1 if most else 3
        name = max(len(NAME), *(len(node.node) for node in self.nodes))
        behind = [_say_node(node) for node in self.nodes]
        a_line = max(1, min(most, (width - name - 1) // cell))
        beside = a_line == most and name + cell * most + GAP + max(map(len, behind), default=0) <= width
        header = Text(f"{NAME:<{name}}" + "".join(f"{slot:>{cell}}" for slot in range(min(a_line, most))), style="bold")
        lines = [header]
        for node, row, said in zip(self.nodes, cells, behind, strict=True):
            lines += _draw_node(escape_controls(node.node), row, (name, cell, a_line), said if beside else "")
            lines += [] if beside or not said else [Text(f"{'':<{name + 1}}{said}")]
        return lines


def _draw_node(node: str, row: Sequence[tuple[str, str]], widths: tuple[int, int, int], said: str) -> Iterator[Text]:
    name, cell, a_line = widths
    for start in range(0, max(len(row), 1), a_line):
        line = Text(f"{node if start == 0 else '':<{name}}")
        for text, style in row[start : start + a_line]:
            line.append(" " * (cell - len(text)))
            line.append(text, style=style)
        yield line.append(f"{'':<{GAP}}{said}" if said else "")


def _to_cell(card: CardHeat, *, watts: bool) -> tuple[str, str]:
    """Text and colour; the colour is that of the temperature in either map."""
    shown = card.power if watts else card.temperature
    text = UNKNOWN if shown is None else f"{shown:.0f}"
    return f"{text}{THROTTLED if card.throttled else ''}", _choose_style(card)


def _choose_style(card: CardHeat) -> str:
    if card.temperature is None:
        return "magenta"
    if card.throttled or card.temperature >= HOT:
        return "bold red"
    return "yellow" if card.temperature >= WARM else "green"


def _say_node(node: NodeHeat) -> str:
    """What is known of it beside its cards; empty when nothing is."""
    fans, parts = _say_fans(node.fans, node.fan_duty), list[str]()
    if node.hottest is not None:
        parts.append(f"hottest {node.hottest:.1f} C in {node.hottest_card.rpartition('/')[2]}")
    if fans:
        parts.append(fans + (f" ({node.fan_control})" if node.fan_control else ""))
    if node.flow is not None:
        parts.append(f"{node.flow:.1f} L/min")
    if node.branch_open is False:
        parts.append("branch closed")
    return ", ".join(parts) or ("nothing is read of it here" if node.cards else "")


def _say_fans(fans: Sequence[Fan], duty: float | None) -> str:
    """The slowest of them: it is the one that matters."""
    speeds, duties = [fan.speed for fan in fans if fan.speed is not None], [fan.duty for fan in fans if fan.duty is not None]
    of_node = duty if duty is not None else max(duties, default=None)
    told = [] if of_node is None else [f"{of_node:.0f} %"]
    told += [f"from {min(speeds):.0f} rpm"] if speeds else []
    unknown = len(fans) - len(speeds)
    told += [f"{unknown} of {len(fans)} unknown"] if fans and unknown else []
    return f"fans {', '.join(told)}" if told else ""


@dataclass(frozen=True)
class Strips:
    """One strip a quantity, each between its own least and most. A gap = nothing was read, `?` = it could not be measured."""

    tracks: Sequence[Track]
    since: float
    now: float

    def draw(self, width: int) -> Sequence[Text]:
        """As long as the terminal allows; on a narrow one without the extremes."""
        rows = [(_name(track), *_say_ends(track)) for track in self.tracks]
        header = ("", "NOW", "LEAST", "MOST")
        widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
        if sum(widths) + GAP * len(widths) + SHORTEST_STRIP > width:
            widths = widths[:2]
        columns = max(SHORTEST_STRIP, min(LONGEST_STRIP, width - sum(widths) - GAP * len(widths)))
        lines = [Text(_pad(header, widths).rstrip(), style="bold")]
        strips = [draw_strip(track, self.since, self.now, columns) for track in self.tracks]
        return lines + [Text(_pad(row, widths) + strip) for row, strip in zip(rows, strips, strict=True)]


def _pad(row: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"{cell:<{width + GAP}}" for cell, width in zip(row, widths, strict=False))


def _name(track: Track) -> str:
    return track.quantity.partition(".")[2].replace("_", " ").removesuffix(" temperature")


def _say_ends(track: Track) -> tuple[str, str, str]:
    values = [value for _, value in track.points if value is not None]
    newest = track.points[-1][1] if track.points else None
    now = "unknown" if newest is None else f"{newest:.2f} {track.unit}"
    return (now, f"{min(values):.2f}", f"{max(values):.2f}") if values else (now, NONE, NONE)


def draw_strip(track: Track, since: float, now: float, columns: int) -> str:
    """Each column is the mean of what was read in its share of the time."""
    shares = [list[float | None]() for _ in range(columns)]
    for at, value in track.points:
        place = int((at - since) / max(now - since, 1e-9) * columns)
        shares[min(max(place, 0), columns - 1)].append(value)
    known = [value for _, value in track.points if value is not None]
    if not known:
        return "".join("?" if share else " " for share in shares)
    spare = max(LEAST_SPAN.get(track.unit, 0.0) - (max(known) - min(known)), 0.0) / 2
    low, span = min(known) - spare, max(max(known) - min(known) + 2 * spare, 1e-9)
    return "".join(_draw_share(share, low, span) for share in shares)


def _draw_share(share: Sequence[float | None], low: float, span: float) -> str:
    values = [value for value in share if value is not None]
    if not values:
        return "?" if share else " "
    return BARS[min(int((sum(values) / len(values) - low) / span * len(BARS)), len(BARS) - 1)]
