"""Made hwmon trees: in memory, chip by chip."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import supernoded_hwmon
from supernoded.limits import Limits
from supernoded.model import Reading, Setpoint, State
from supernoded.parts import Handle, Sensor
from supernoded.plugin import Node, WireError
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryHost, MemoryTree, MemoryWires
from supernoded.topology import Topology
from supernoded.wire import Pen
from supernoded_hwmon.settings import HwmonSettings

ROOT = "/sys/class/hwmon"
EIO = WireError("Input/output error")


class Driver(MemoryTree):
    """A chip whose driver may refuse writes, round them or set several files at once."""

    def __init__(self, root: str, pen: Pen) -> None:
        super().__init__(root, pen)
        self.refuse = 0  # so many writes more
        self.steps: tuple[int, ...] = ()  # what its pwm can be
        self.words: frozenset[str] | None = None  # that its switches take
        self.deaf = False
        self.resets = ""  # what its duties become when one is switched to manual
        self.hangs = False
        self.asked = 0  # while it hung
        self.written: list[tuple[str, str]] = []

    async def order(self, scope: str, path: str, text: str) -> None:
        self._pen.ask(scope)
        self.written.append((path, text))
        if self.hangs:
            raise WireError(f"{path}: no answer within 3 s") from TimeoutError()
        if self.refuse > 0:
            self.refuse -= 1
            raise WireError(f"{path}: Input/output error")
        if path.endswith("_enable") and self.words is not None and text not in self.words:
            raise WireError(f"{path}: Invalid argument")
        if self.deaf:
            return
        if self.steps and not path.endswith("_enable"):
            text = str(min(self.steps, key=lambda step: abs(step - int(text))))
        if not isinstance(self.files.get(path), WireError):
            self.files[path] = text
        if self.resets and path.endswith("_enable") and text == "1":
            self.files[path.removesuffix("_enable")] = self.resets

    async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
        if self.hangs:
            self.asked += 1
            raise WireError(f"{self._root}: no answer within 3 s") from TimeoutError()
        return await super().read_all(patterns)


class HwmonWires(MemoryWires):
    """The folder of chips, whose trees are drivers."""

    def __init__(self) -> None:
        super().__init__()
        self.drivers: dict[str, Driver] = {}
        self._made: dict[str, Driver] = {}  # a folder is one tree, whatever chip it stands for

    def tree(self, root: str) -> MemoryTree:
        return self.drivers.get(root.removeprefix(f"{ROOT}/")) or super().tree(root)

    def plug(self, folder: str, files: Mapping[str, str | WireError], device: str = "") -> Driver:
        """Put a chip there."""
        driver = self.drivers[folder] = self._made.setdefault(folder, Driver(f"{ROOT}/{folder}", self._pen))
        driver.files.clear()
        driver.files.update(files)
        top = self.tree(ROOT)
        top.files[f"{folder}/name"] = "here"
        top.links[f"{folder}/device"] = device
        return driver

    def unplug(self, folder: str) -> None:
        """Take it away."""
        self.drivers[folder].files.clear()
        del self.drivers[folder], self.tree(ROOT).files[f"{folder}/name"], self.tree(ROOT).links[f"{folder}/device"]


class Scene:
    """The plugin on a node of such chips."""

    def __init__(self, state: Path, wires: HwmonWires | None = None, **settings: Any) -> None:
        self.wires, self.clock, self.state = wires or HwmonWires(), ManualClock(), state
        self.settings = msgspec.convert(settings, HwmonSettings)
        self.start()

    def start(self) -> None:
        """A life of the daemon; whatever an earlier one knew is gone."""
        self.settings = msgspec.convert(msgspec.to_builtins(self.settings), HwmonSettings)
        self.node = Node("n0", Topology.empty("n0", cards=1), Limits(), self.wires, self.clock, MemoryHost(), self.state)
        self.sensor: Sensor
        self.control: Sensor
        self.sensor, self.control = supernoded_hwmon.supernoded_sensors(self.settings, self.node)
        self.fans: Handle
        (self.fans,) = supernoded_hwmon.supernoded_handles(self.settings, self.node)

    async def read(self) -> dict[tuple[str, str], Reading]:
        return index(await self.sensor.read())

    async def value(self, subject: str, quantity: str) -> object:
        return (await self.read())[subject, quantity].value

    async def see_control(self) -> Reading:
        (reading,) = await self.control.read()
        return reading

    async def put(self, percent: float, lives: float = 6.0) -> None:
        until = self.clock.now() + lives
        await self.fans.put(Setpoint(target="n0/fans", quantity="fan.duty", value=percent, unit="%", until=until), "node")


def index(readings: object) -> dict[tuple[str, str], Reading]:
    assert isinstance(readings, list | tuple)
    assert all(find_fault(reading) is None for reading in readings if reading.state is State.GOOD)
    found = {(reading.subject, reading.quantity): reading for reading in readings}
    assert len(found) == len(readings)
    return found


def board(enable: str = "2", pwm: str = "100", fans: int = 2) -> dict[str, str | WireError]:
    """A Super I/O chip with so many fans."""
    files: dict[str, str | WireError] = {"name": "nct6798"}
    for number in range(1, fans + 1):
        files |= {f"fan{number}_input": f"{1000 + number}", f"pwm{number}": pwm, f"pwm{number}_enable": enable}
    return files


RECORD = "hwmon/fans.json"


def steered(state: Path, enable: str = "2", **more: Any) -> tuple[Scene, Driver]:
    """A board with two fans that may be turned."""
    scene = Scene(state, steer=["nct*"], **more)
    return scene, scene.wires.plug("hwmon0", board(enable))


def shown(chip: Driver) -> tuple[object, ...]:
    """What its two outputs show, each its switch and its duty."""
    return tuple(chip.files[name] for name in ("pwm1_enable", "pwm1", "pwm2_enable", "pwm2"))


def read_record(scene: Scene) -> object:
    """What the daemon has written down as held."""
    return json.loads(str(scene.wires.tree(str(scene.state)).files[RECORD]))["found"]
