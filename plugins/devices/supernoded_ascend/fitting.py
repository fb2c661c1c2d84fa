"""From settings and node to sensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from supernoded.plugin import NameNeighbour, Node, Sensor, name_neighbour
from supernoded_ascend.card_readings import parse_board, parse_ecc, parse_power, parse_temperature, parse_usages
from supernoded_ascend.card_sensors import CardSensor, TableSensor
from supernoded_ascend.closer_look import HEALTH as CODES
from supernoded_ascend.counters import parse_stat
from supernoded_ascend.devices import Devices, Naming, read_described
from supernoded_ascend.driver import DriverSensor
from supernoded_ascend.log_sensor import LogSensor
from supernoded_ascend.neighbours import parse_lldp
from supernoded_ascend.npu_smi import NpuSmi
from supernoded_ascend.optical import parse_optical
from supernoded_ascend.port_sensors import Cards, PortSensor
from supernoded_ascend.questions import Question
from supernoded_ascend.records import parse_records
from supernoded_ascend.ring_sensors import CheckSensor, LatencySensor
from supernoded_ascend.settings import AscendSettings
from supernoded_ascend.words import parse_fec, parse_link, parse_probe, parse_speed

GAUGES = (
    Question(("-t", "power"), parse_power, "card.power", "W"),
    Question(("-t", "temp"), parse_temperature, "card.temperature", "C"),
    Question(("-t", "usages"), parse_usages, "card.utilisation", "%"),
)
HEALTH = (
    CODES,
    Question(("-t", "ecc"), parse_ecc, "card.errors_uncorrected"),
)
BOARD = (Question(("-t", "board"), parse_board, "card.serial", "text"),)


def list_groups(name: NameNeighbour) -> dict[str, tuple[Question, ...]]:
    """What `hccn_tool` is asked, by the sensor that asks."""
    return {
        "ascend.link": (Question(("-link", "-g"), parse_link, "link.state"), Question(("-stat", "-g"), parse_stat, "link.receive_errors")),
        "ascend.records": (Question(("-link_stat", "-g"), parse_records, "link.state"),),
        "ascend.optical": (Question(("-optical", "-g"), parse_optical, "link.present"),),
        "ascend.probe": (Question(("-net_health", "-g"), parse_probe, "link.probe", "text"),),
        "ascend.neighbours": (Question(("-lldp", "-g"), partial(parse_lldp, name), "link.neighbour", "text"),),
        "ascend.facts": (
            Question(("-fec", "-g"), parse_fec, "link.fec", "text"),
            Question(("-speed", "-g"), parse_speed, "link.speed", "Gb/s"),
        ),
    }


def fit_sensors(settings: AscendSettings, node: Node) -> Sequence[Sensor]:
    """All of them. What comes with the driver is not missed where there is none."""
    naming = Naming(node.name, read_described(node, settings), settings.chips_per_npu)
    devices = Devices(naming, node.wires.command(settings.npu_smi), settings)
    files = node.wires.tree(settings.device_files)
    own = (*_fit_ports(settings, node, devices), *_fit_cards(settings, node, devices), *_fit_log(settings, node))
    return [*(DriverSensor(sensor, files, bool(settings.devices)) for sensor in own), *_fit_rings(settings, node)]


def _fit_ports(settings: AscendSettings, node: Node, devices: Devices) -> Iterator[Sensor]:
    if not settings.hccn_tool:
        return
    cards = Cards(lambda device: node.wires.command([*settings.hccn_tool, "-i", f"{device}"]), settings.second_port, settings.timeout_s)
    periods = {
        "ascend.link": settings.link_s or node.limits.link.poll_s,
        "ascend.records": settings.records_s,
        "ascend.optical": settings.optical_s,
        "ascend.probe": settings.probe_s,
        "ascend.neighbours": settings.neighbours_s,
        "ascend.facts": settings.facts_s,
    }
    for name, questions in list_groups(name_neighbour(node.topology, settings.neighbours)).items():
        yield PortSensor(name, periods[name], questions, devices, cards, node.clock)


def _fit_cards(settings: AscendSettings, node: Node, devices: Devices) -> Iterator[Sensor]:
    argv, clock = settings.npu_smi, node.clock
    npu_smi = NpuSmi(node.wires.command(argv), lambda words: node.wires.command([*argv, "info", *words]), settings.timeout_s)
    singly = CardSensor("ascend.cards", settings.cards_s, GAUGES, npu_smi, devices, clock, by_chip=True)
    yield TableSensor(settings.cards_s, npu_smi, singly, devices.naming, clock)
    yield CardSensor("ascend.health", settings.health_s, HEALTH, npu_smi, devices, clock, by_chip=True)
    yield CardSensor("ascend.boards", settings.boards_s, BOARD, npu_smi, devices, clock, by_chip=False)


def _fit_log(settings: AscendSettings, node: Node) -> Iterator[Sensor]:
    if settings.log_folder:
        tail = node.wires.command(settings.log_tail) if settings.log_tail else None
        yield LogSensor(node.wires.tree(settings.log_folder), tail, node, settings)


def _fit_rings(settings: AscendSettings, node: Node) -> Iterator[Sensor]:
    """For every ring of the topology: any node may come to hold its role."""
    for ring in node.topology.rings:
        count = len(ring.order)
        words = {"{ring}": ring.name, "{size}": f"{count}", "{order}": ",".join(map(str, range(count)))}
        if settings.ring_check:
            command = node.wires.command(_fill(settings.ring_check, words))
            yield CheckSensor(ring.name, ring.order, settings.ring_s, settings.ring_timeout_s, command, node.clock)
        if settings.ring_latency:
            command = node.wires.command(_fill(settings.ring_latency, words))
            senders = [f"{member}/port0" if "/" in member else member for member in ring.order]  # a card sends on its port 0 (L11)
            yield LatencySensor(ring.name, senders, settings.ring_s, settings.ring_timeout_s, command, node.clock)


def _fill(argv: Sequence[str], words: dict[str, str]) -> list[str]:
    """Only words that are a placeholder and nothing else are replaced."""
    return [words.get(word, word) for word in argv]
