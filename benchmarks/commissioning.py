"""A plant on the bench, commissioned as `supernodectl thermal commission` does it: the same procedure, over the same gauges."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.cooled import LOOP, Plant, Telling
from sim_hardware.plant.cooling import Design
from supernoded.ctl.thermal_points import Moment, Record, render_record
from supernoded.ctl.thermal_procedure import Commissioning as Procedure
from supernoded.ctl.thermal_procedure import Plan
from supernoded.ctl.thermal_watch import Bounds
from supernoded.errors import AdminError
from supernoded.messages import CoolingUnit, LoopRow, Thermal
from supernoded_thermal.control.commissioning import Commissioning, parse_commissioning

MOST = 32.0  # C of the supply, as somebody who watches allows it
DEW_MARGIN = 2.0  # K
LOAD = 0.8  # MW, steady meanwhile
STEP = 10.0  # % between positions
SETTLE = 180.0  # s at most at each


class Desk:
    """See `supernoded.ctl.thermal_procedure.Access`: what a daemon would answer and do."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.value = plant, plant.sense("coolant.valve_command")
        self._by_hand = False
        self._shown = self._poll()

    def _poll(self) -> dict[str, float]:
        return {one.quantity: one.value for one in self.plant.poll() if isinstance(one.value, float) and one.subject == LOOP}

    def look(self) -> Thermal:
        """What the gauges show."""
        shown = self._shown
        supply = shown["coolant.supply_temperature"]
        unit = CoolingUnit(
            subject=LOOP,
            name="cdu0",
            authority="direct",
            control="direct",
            supply=supply,
            supply_colder=supply,
            return_temperature=shown["coolant.return_temperature"],
            primary=shown["coolant.primary_temperature"],
            flow=shown["coolant.flow"],
            valve=shown["coolant.valve"],
            dew_margin=supply - shown["air.dew_point"] - DEW_MARGIN,
        )
        loop = LoopRow(
            name="valve",
            target=f"{LOOP}/valve",
            scope=LOOP,
            policy="thermal",
            engaged=True,
            by_hand=self._by_hand,
            hand_value=self.value if self._by_hand else None,
            can_be_held=True,
        )
        return Thermal(now=self.plant.state.at, loops=(loop,), units=(unit,))

    def hold(self, target: str, value: float | None, seconds: float) -> None:
        """The valve by hand."""
        del target, seconds
        if value is not None:
            self.value, self._by_hand = value, True

    def release(self, target: str) -> None:
        """The loop would turn it again; here it stays where it is."""
        del target
        self._by_hand = False

    def sleep(self, seconds: float) -> None:
        """Let the plant go on, and look."""
        for _ in range(round(seconds)):
            self.plant.put(self.value)
            self.plant.pass_half()
            self.plant.pass_half()
            self._shown = self._poll()

    def recover(self, value: float) -> list[Moment]:
        """What is seen while the plant comes to rest with the valve here."""
        self.value, seen = value, list[Moment]()
        for _ in range(round(SETTLE)):
            self.sleep(1.0)
            temperatures = (self._shown[f"coolant.{of}_temperature"] for of in ("supply", "return"))
            seen.append(Moment(self.plant.state.at, value, self._shown["coolant.valve"], *temperatures))
        return seen


def commission(design: Design) -> Commissioning:
    """What the procedure records of a plant: upwards from where its valve stands, then down to where the supply is too warm."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return _commission(design, Path(folder))


def _commission(design: Design, folder: Path) -> Commissioning:
    plant = Plant(design, Telling(), LOAD)
    stood = plant.take_over()
    desk, record = Desk(plant), Record(folder / "cdu0.toml", LOOP, 0.0)
    first = STEP * (stood // STEP + 1.0)
    up = [first + STEP * step for step in range(round((100.0 - first) // STEP) + 1)]
    down = [stood, *(first - STEP * step for step in range(1, 10) if 0.0 < first - STEP * step < stood - 2.0)]
    for positions in (down, up):
        for position in positions:
            procedure = Procedure(desk, Plan(LOOP, (position,), SETTLE, Bounds(MOST)), lambda _: None)
            try:
                procedure.check()
                procedure.run(record)
            except AdminError:  # out of bounds: its loop has the valve again
                record.course += desk.recover(stood)
                break
    return parse_commissioning(render_record(record).encode(), design.text)
