"""`docs/faults.md` out of the catalogue, so that it cannot be wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.kind import Kind
from sim_hardware.faults.targets import FAMILIES, list_targets
from sim_hardware.rack import load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.chaos.durations import say_seconds
from supernoded.tables import Row, list_rows

RACK = "rack-1x8"  # of the examples

_HEAD = """\
# Faults

What can be done to a simulated rack: by a scenario's timeline ([scenarios](scenarios.md)), and by hand with `supernode-sim inject`
([the simulator](simulator.md)). `supernode-sim faults KIND` and `supernodectl chaos faults KIND` show the same as this page.
This page is written by `python -m sim_hardware.drives.describing docs/faults.md` from the catalogue.

* **on**: the families that the fault can befall. The first table has them.
* **layer**: where the drives `sim` and `bench` make it; one word where both are alike. `model` is the plant's physics, `protocol` the bytes
  of a device, `os` files and processes, `telemetry` what a sensor says, not what is. What shows in one layer proves nothing of another.
* **danger**: its class. From the least to the greatest: `model`, `telemetry`, `os`, `device`, `physical`.
* **shows, gone**: with the default parameters, how long it takes until its probe sees it in the bytes of devices, and, once it is lifted,
  until they show it no longer. *Out*: the target is out of service meanwhile, and counts as redundancy spent. *Stays*: lifting does not
  make it vanish.

All parameters have defaults. No fault can be made on live hardware yet.
"""


def describe_faults() -> str:
    """The page as Markdown."""
    groups = groupby(sorted(CATALOGUE.values(), key=lambda kind: kind.kind), key=_find_group)
    return _HEAD + "\n## Targets\n" + _draw_families() + "".join(_describe_group(name, list(kinds)) for name, kinds in groups)


def _find_group(kind: Kind[Any]) -> str:
    return kind.kind.partition(".")[0]


def _describe_group(name: str, kinds: list[Kind[Any]]) -> str:
    parameters = [_draw_row(kind, row) for kind in kinds for row in _list_parameters(kind)]
    return f"\n## {name}\n{_draw_kinds(kinds)}" + (f"\n{_draw_parameters(parameters)}" if parameters else "")


def _draw_families() -> str:
    rig = Rig(World(load_rack(RACK), 0, lambda: 0.0), Path("rack"))
    head = f"| family | such as, in `{RACK}` |\n|---|---|\n"
    return head + "".join(f"| {family} | {_show_first(list_targets(rig, family))} |\n" for family in sorted(FAMILIES))


def _show_first(members: tuple[str, ...]) -> str:
    return f"`{members[0]}`" if members else "none"


def _draw_kinds(kinds: Iterable[Kind[Any]]) -> str:
    head = "| kind | on | what it does | layer | danger | shows, gone |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| `{kind.kind}` | {', '.join(kind.targets)} | {kind.text} | {_say_layer(kind)} | {kind.danger} | {_say_times(kind)} |\n"
        for kind in kinds
    )


def _say_layer(kind: Kind[Any]) -> str:
    sim, bench = (kind.layers.get(drive, "absent") for drive in ("sim", "bench"))
    return sim if sim == bench else f"{sim}, {bench}"


def _say_times(kind: Kind[Any]) -> str:
    marks = [*(["out"] if kind.takes_out else []), *([] if kind.undoable else ["stays"])]
    return ", ".join([say_seconds(kind.shows_within), say_seconds(kind.ends_within), *marks])


def _list_parameters(kind: Kind[Any]) -> Iterator[Row]:
    if msgspec.structs.fields(kind.parameters):
        yield from list_rows(kind.parameters)


def _draw_row(kind: Kind[Any], row: Row) -> str:
    default = f"`{msgspec.json.encode(row.value).decode()}`"
    return f"| `{kind.kind}` | `{row.key}` | {default} | {row.allowed} | {row.meaning} |\n"


def _draw_parameters(rows: Iterable[str]) -> str:
    return "| kind | parameter | default | allowed | meaning |\n|---|---|---|---|---|\n" + "".join(rows)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe_faults(), encoding="utf-8")
