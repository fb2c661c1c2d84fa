"""A target for every kind of the catalogue, and what has to happen beside the fault so that it can show."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sim_hardware.devices.panel import Device
from sim_hardware.drives.commissioning import commission
from sim_hardware.faults.reading import exchange
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.cooling.orders import ShiftPrimary
from sim_hardware.plant.job.orders import RequestCheckpoint
from sim_hardware.plant.pool.orders import AllowAtomic
from sim_hardware.plant.power.orders import Sag, SetUpsMode
from sim_hardware.plant.words import Order
from sim_hardware.rack import load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World

T = TypeVar("T")
Provoke = Callable[[Rig], Awaitable[None]]

WARM_S = 3.0


@dataclass(frozen=True)
class Case:
    """One kind at one target. `prepare` happens before all else; `provoke` behind the begin, and in the control run."""

    target: str
    warm_s: float = WARM_S
    prepare: Provoke | None = None
    provoke: Provoke | None = None
    again: bool = False  # it is gone once that has happened again


def orders(*given: Order) -> Provoke:
    async def provoke(rig: Rig) -> None:
        for order in given:
            rig.world.order(order)

    return provoke


async def switch_outlet(rig: Rig) -> None:
    """Outlet 3 off, over the PDU's line; it acknowledges."""
    answer = await exchange(rig, "pdu/A1", struct.pack(">BHH", 5, 2, 0))
    assert answer == struct.pack(">BHH", 5, 2, 0)


class Programs:
    """Daemons and a broker that only run or do not, on machines that are only there or not."""

    def __init__(self) -> None:
        self.ended: set[str] = set()
        self.paused: set[str] = set()
        self.cuts: set[frozenset[str]] = set()
        self.dark: set[str] = set()
        self.doubled: set[str] = set()
        self.clocks: dict[str, float] = {}
        self.old_s = 0.0

    def kill(self, name: str) -> None:
        self.ended.add(name)

    def start(self, name: str) -> None:
        self.ended.discard(name)

    def runs(self, name: str) -> bool:
        return name not in self.ended

    def pause(self, name: str, *, paused: bool) -> None:
        (self.paused.add if paused else self.paused.discard)(name)

    def is_paused(self, name: str) -> bool:
        return name in self.paused

    def cut(self, one: str, other: str, *, apart: bool) -> None:
        (self.cuts.add if apart else self.cuts.discard)(frozenset((one, other)))

    def are_apart(self, one: str, other: str) -> bool:
        return frozenset((one, other)) in self.cuts

    def darken(self, node: str, *, dark: bool) -> None:
        (self.dark.add if dark else self.dark.discard)(node)

    def is_dark(self, node: str) -> bool:
        return node in self.dark

    def set_clock(self, node: str, seconds: float, *, restart: bool) -> None:
        del restart
        self.clocks[node] = seconds

    def find_clock_error(self, node: str) -> float:
        return self.clocks.get(node, 0.0)

    def double(self, node: str, *, there: bool) -> None:
        (self.doubled.add if there else self.doubled.discard)(node)

    def is_doubled(self, node: str) -> bool:
        return node in self.doubled

    def rewind(self, seconds: float) -> None:
        self.old_s = seconds

    def is_rewound(self) -> bool:
        return self.old_s > 0.0


class Disk:
    """Storage that is only full or not, and on which nothing lies."""

    durable = Path("/disk")

    def __init__(self) -> None:
        self.full = False

    def find_shared(self, node: str) -> Path:
        return Path("/memory") / node

    def choose(self) -> tuple[int, str]:
        return 0, "durable"

    def fill(self, *, full: bool) -> None:
        self.full = full

    def is_full(self) -> bool:
        return self.full


async def switch_monitors_on(rig: Rig) -> None:
    commission(rig)


CASES: dict[str, Case] = {
    "power.input_sag": Case("utility/A"),
    "power.epo": Case("feed/A"),
    "power.breaker_trip": Case("breaker/A1"),
    "power.cords_swapped": Case("n0"),
    "generator.fail": Case("generator", provoke=orders(Sag("A", 1.0), Sag("B", 1.0))),
    "outlet.locked": Case("pdu/A1/outlet2"),
    "outlet.open": Case("pdu/B1/outlet2"),
    "ups.battery_dead": Case("ups/A"),
    "ups.inverter_fail": Case("ups/A"),
    "ups.earth_fault": Case("ups/A"),
    "ups.charger_fail": Case("ups/A"),
    "ups.static_switch_fail": Case("ups/A", provoke=orders(SetUpsMode("A", "eco"))),
    "ups.battery_low": Case("ups/A"),
    "ups.runtime_lie": Case("ups/A"),
    "ups.flag_stuck": Case("ups/A"),
    "ups.calibration": Case("ups/A"),
    "ups.selftest": Case("ups/A"),
    "ups.eco": Case("ups/A"),
    "ups.bypass": Case("ups/A"),
    "ups.phase_load": Case("ups/A"),
    "pdu.silent": Case("pdu/A1"),
    "pdu.ack_no_action": Case("pdu/A1", provoke=switch_outlet),
    "pdu.garbled": Case("pdu/B1"),
    "cdu.pump_fail": Case("cdu/0/pump0"),
    "cdu.run_signal_missing": Case("cdu/0/pump0"),
    "cdu.valve_stuck": Case("cdu/0"),
    "cdu.leak": Case("n0"),
    "cdu.primary_lost": Case("cdu/0"),
    "cdu.primary_shift": Case("cdu/0"),
    "cdu.fouling": Case("cdu/0", warm_s=400.0),
    "cdu.low_level": Case("cdu/0"),
    "cdu.air": Case("cdu/0"),
    "cdu.two_masters": Case("cdu/0"),
    "room.humid": Case("cdu/0"),
    "cdu.valve_feedback_frozen": Case("cdu/0", provoke=orders(ShiftPrimary("cdu/0", kelvin=5.0))),
    "thermal.hot_spot": Case("n0/card3"),
    "die_sensor.stuck": Case("n0/card3"),
    "fan.stop": Case("n0/fan3"),
    "flow.blocked": Case("n1"),
    "link.ber_ramp": Case("n0/card3/port0"),
    "link.flap": Case("n0/card3/port0"),
    "link.down": Case("n0/card3/port0"),
    "link.switched_off": Case("n0/card3/port0"),
    "link.optics_unplug": Case("n0/card3/port0"),
    "link.loose": Case("n0/card3/port0"),
    "link.bend": Case("cable/n0/card3/port0--n0/card4/port1"),
    "link.attenuate": Case("n0/card3/port0"),
    "link.laser_aging": Case("n0/nic/mlx5_0"),
    "link.lane_loss": Case("n0/card3/port0"),
    "ring.cable_swap": Case("n0/card3/port0"),
    "ring.split": Case("ring/backplane-n0"),
    "ring.port_swap": Case("n0/card3"),
    "hop.slow": Case("cable/n0/card3/port0--n0/card4/port1"),
    "switch.congestion": Case("switch/s1"),
    "switch.pfc": Case("switch/s1"),
    "switch.ecn": Case("switch/s1"),
    "card.ecc_storm": Case("n0/card3"),
    "card.hang": Case("n0/card3"),
    "card.fell_off_bus": Case("n0/card3"),
    "card.straggler": Case("n0/card3"),
    "card.code": Case("n0/card3"),
    "card.power_brake": Case("n0/card3"),
    "card.memory_leak": Case("n0/card3"),
    "card.swap": Case("n0/card3"),
    "pool.hot_block": Case("pool/n0"),
    "pool.worn_block": Case("pool/n0"),
    "pool.unmounted": Case("pool/n0"),
    "pool.not_atomic": Case("pool/n0", prepare=orders(AllowAtomic("n0", on=True))),
    "job.rank_silent": Case("job/train/rank7"),
    "comm.buffer_small": Case("job/train"),
    "job.save_hangs": Case("job/train", provoke=orders(RequestCheckpoint("train"))),
    "job.save_fails": Case("job/train", provoke=orders(RequestCheckpoint("train")), again=True),
    "cdu.sensor_alarm": Case("cdu/0"),
    "job.starved": Case("job/train"),
    "sensor.freeze": Case("n0/card3:card.power"),
    "sensor.nan": Case("cdu/0:coolant.supply_temperature"),
    "sensor.absent": Case("ups/A:ups.charge"),
    "sensor.drift": Case("cdu/0:coolant.supply_temperature"),
    "sensor.unit_slip": Case("n0:air.temperature.optics"),
    "sensor.swap": Case("n0/card3:card.serial"),
    "sensor.late": Case("n0/card3:card.power"),
    "bmc.monitor_off": Case("n1", prepare=switch_monitors_on),
    "device.silent": Case("cdu/0"),
    "device.refusing": Case("n0/bmc"),
    "device.slow": Case("ups/A/snmp"),
    "device.garbled": Case("pdu/A1/snmp"),
    "device.stale": Case("n0/bmc"),
    "device.idle_orders": Case("ups/A"),
    "line.echo": Case("line/feed-A"),
    "line.drop": Case("line/feed-A"),
    "line.flip": Case("line/feed-A"),
    "line.split": Case("line/feed-A"),
    "line.duplicate": Case("line/feed-A"),
    "line.late": Case("line/cdu0"),
    "line.silence": Case("line/cdu0"),
    "line.wrong_unit": Case("line/feed-A"),
    "line.twins": Case("line/feed-A"),
    "line.stuck": Case("line/feed-B"),
    "line.usb": Case("line/cdu0"),
    "line.no_crc": Case("line/feed-A"),
    "daemon.killed": Case("n0"),
    "daemon.paused": Case("n0"),
    "node.twin": Case("n0"),
    "node.dead": Case("n1"),
    "node.clock": Case("n0"),
    "host.hog": Case("n0"),
    "net.partition": Case("network"),
    "slurm.drained": Case("n1"),
    "broker.lost": Case("broker"),
    "broker.stale": Case("broker"),
    "database.lost": Case("database"),
    "storage.full": Case("storage"),
    "vault.killed": Case("n0"),
    "tool.hang": Case("n0/npu-smi"),
    "tool.fails": Case("n0/hccn_tool"),
    "tool.garbage": Case("n0/nvidia-smi"),
    "tool.slow": Case("n0/dsm_snapshot"),
}


class Here:
    """Devices listen on this loop."""

    async def open(self, stack: AsyncExitStack, device: Device) -> str:
        return await stack.enter_async_context(device.serve("127.0.0.1"))


def make_rig(now: Callable[[], float], rack: str = "rack-2x8") -> Rig:
    """Two nodes are enough for every kind, and half the time of four."""
    rig = Rig(World(load_rack(rack), 1, now), Path("/lines"))
    rig.software, rig.stores = Programs(), Disk()
    return rig


@asynccontextmanager
async def served() -> AsyncIterator[Rig]:
    rig = make_rig(asyncio.get_running_loop().time)
    async with rig.serve(Here()):
        yield rig


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run in virtual time; whatever vanished in a callback fails the test."""
    loop = SimLoop(1)
    Net(loop)
    answer = play(loop, work)
    assert loop.failures == []
    return answer
