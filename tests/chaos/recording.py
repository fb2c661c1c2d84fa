"""What commissioning records of every cooling plant of the simulator: `python -m tests.chaos.recording` writes it anew.

The procedure is the CLI's own, on a whole daemon, over the devices' wires. Flows are written as the plant's file has them, since a rack
scales its plant to its heat; effectiveness by valve position is the same at every scale.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from pathlib import Path

import msgspec

from sim_hardware.drives.commissioned import FOLDER
from sim_hardware.drives.known import load_known_rack
from sim_hardware.plant.cooling import list_designs, load_design
from sim_hardware.plant.job.orders import StarveJob
from sim_hardware.rack.shape import SimLoop
from supernoded.ctl.thermal_points import Record, render_record
from supernoded.ctl.thermal_procedure import Commissioning, Plan
from supernoded.ctl.thermal_watch import Bounds
from supernoded.errors import AdminError
from tests.chaos.test_commissioning import Operator, simulate

LOOP = "cdu/0"
RECORDED = 1_800_000_000.0  # Unix seconds
STEP = 10.0  # % between positions
SETTLE = 180.0  # s at most at each
MOST = 32.0  # C that whoever watches allows
SLOWER = 2.0  # times: about half of the load, so that the valve has somewhere to go in both ways
SETTLED = 240.0  # s from then on


def record_plant(plant: str) -> str:
    """Step the valve of a plant through its positions, up from where it stands and then down until the supply is too warm."""
    rack = load_known_rack("direct-1x8")
    job = rack.sim.job
    assert job is not None
    quiet = msgspec.structs.replace(job, checkpoint_every_s=1e6)  # a save would be another load
    sim = msgspec.structs.replace(rack.sim, loops={"cdu0": SimLoop(plant=plant)}, job=quiet)
    with (
        tempfile.TemporaryDirectory(prefix="recording-") as folder,
        simulate(Path(folder), msgspec.structs.replace(rack, sim=sim)) as operator,
    ):
        operator.loop.call_soon(operator.rig.world.order, StarveJob(job.name, SLOWER))
        operator.sleep(SETTLED)
        record = _record(operator, Path(folder) / "cdu0.toml")
        design = operator.rig.world.site.cooling.site.loops[0].design
    times = load_design(plant).pumping.litres_per_second / design.pumping.litres_per_second
    record.points = [dataclasses.replace(point, flow=point.flow * times) for point in record.points]
    return render_record(record)


def _record(operator: Operator, path: Path) -> Record:
    unit = operator.look().units[0]
    stood = unit.valve or 0.0
    up = [STEP * step for step in range(1, 11) if STEP * step > stood]
    down = [stood, *(STEP * step for step in range(9, 0, -1) if STEP * step < stood - 2.0)]
    record = Record(path, LOOP, RECORDED)
    for positions in (down, up):
        for position in positions:
            procedure = Commissioning(operator, Plan(LOOP, (position,), SETTLE, Bounds(MOST)), lambda _: None)
            try:
                procedure.check()
                procedure.run(record)
            except AdminError:  # out of bounds: its loop has the valve again
                operator.sleep(SETTLED)
                break
    return record


def main() -> None:
    """Record all of them, or those that are named."""
    for plant in sys.argv[1:] or list_designs():
        text = record_plant(plant)
        (FOLDER / f"{plant}.toml").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{plant}: {text.count('[[points]]')} points, {text.count('not steady')} of them not steady\n")


if __name__ == "__main__":
    main()
