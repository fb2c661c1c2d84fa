"""What `supernodectl thermal commission` has recorded of the CDUs that are turned directly, one file a cooling plant.

Nothing of it is taken from the plants' own figures: `tests/chaos/recording.py` steps each valve through its positions, and reads
thermometers. Flows are for the plant as its file has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import tomli_w

from sim_hardware.plant.cooling import load_design
from sim_hardware.plant.cooling.site import survey_site
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import SimLoop

FOLDER = Path(__file__).parent


def write_commissioned(rack: Rack, folder: Path) -> str:
    """Put the record of each loop that is turned directly beside a site's files; their folder, or nothing. Raises OSError."""
    records = dict(_list_records(rack))
    if not records:
        return ""
    home = folder / "commissioned"
    home.mkdir(exist_ok=True)
    for name, text in records.items():
        (home / name).write_text(text, encoding="utf-8")
    return str(home)


def _list_records(rack: Rack) -> Iterator[tuple[str, str]]:
    """File name and text, with the flows of this rack."""
    if not any(loop.authority == "direct" for loop in rack.loops):
        return
    for loop, site in zip(rack.loops, survey_site(rack, 0).loops, strict=True):
        plant = rack.sim.loops.get(loop.name, SimLoop()).plant
        file = FOLDER / f"{plant}.toml"
        if loop.authority == "direct" and file.exists():
            times = site.design.pumping.litres_per_second / load_design(plant).pumping.litres_per_second
            yield f"{loop.name}.toml", scale_flow(file.read_text(encoding="utf-8"), loop.subject, times)


def scale_flow(recorded: str, cdu: str, times: float) -> str:
    """The record of a CDU as big: the same temperatures at so many times the flow."""
    table = msgspec.toml.decode(recorded)
    points = [{**point, "flow": round(point["flow"] * times, 3)} for point in table["points"]]
    return tomli_w.dumps({**table, "cdu": cdu, "points": points})
