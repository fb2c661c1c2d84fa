"""Readings that several kinds need: who shows it, and where."""

from __future__ import annotations

from collections.abc import Callable

from sim_hardware.devices.sysfs.infiniband import list_hcas
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import Read, require
from sim_hardware.faults.reading import (
    GarbledError,
    ReadingError,
    RefusedError,
    pick,
    read_nut,
    read_page,
    read_register,
    read_tree,
    run_tool,
)
from sim_hardware.plant.words import Value

Name = Callable[[Place], str]


def target(place: Place) -> str:
    """The target itself."""
    return place.target


def owner(place: Place) -> str:
    """What the target is a part of."""
    return place.owner


def nut(variable: str) -> Read[float]:
    """A number of the UPS that is the target."""

    async def read(place: Place) -> float:
        text = require(await read_nut(place.rig, place.short, variable), variable)
        try:
            return float(text)
        except ValueError as error:
            raise GarbledError(f"{place.target}: {variable} is {text!r}") from error

    return read


async def nut_flags(place: Place) -> frozenset[str]:
    """The status of the UPS that is the target."""
    return frozenset((await read_nut(place.rig, place.short, "ups.status") or "").split())


def register(quantity: str, device: Name = target, subject: Name = target) -> Read[Value]:
    """A register of a Modbus device; None for its sentinel."""

    async def read(place: Place) -> Value:
        return await read_register(place.rig, device(place), subject(place), quantity)

    return read


def number(quantity: str, device: Name = target, subject: Name = target) -> Read[float]:
    """The same where a number is due."""
    inner = register(quantity, device, subject)

    async def read(place: Place) -> float:
        value = await inner(place)
        if not isinstance(value, float | int):
            raise ReadingError(f"{device(place)}: {quantity} is {value!r}, no number")
        return float(value)

    return read


def page(device: Name, path: Name, *keys: str | int) -> Read[object]:
    """Something on a Redfish page."""

    async def read(place: Place) -> object:
        found: object = pick(await read_page(place.rig, device(place), path(place)), *keys)
        return found

    return read


def page_number(device: Name, path: Name, *keys: str | int) -> Read[float]:
    """A number on a Redfish page."""
    inner = page(device, path, *keys)

    async def read(place: Place) -> float:
        value = await inner(place)
        if not isinstance(value, float | int):
            raise ReadingError(f"{device(place)}: {path(place)} shows {value!r}, no number")
        return float(value)

    return read


def bmc(place: Place) -> str:
    """The BMC of the target's node."""
    return f"{place.node}/bmc"


def sensor(name: str) -> Read[float]:
    """A sensor of the node that is the target."""
    return page_number(bmc, lambda _: f"Chassis/1/Sensors/{name}", "Reading")


def card_sensor(name: str, further: int = 0) -> Read[float]:
    """A sensor of the card that is the target, or of one so many slots further."""

    def path(place: Place) -> str:
        return f"Chassis/1/Sensors/Card{pass_slots(place, further)}{name}"

    return page_number(bmc, path, "Reading")


def pass_slots(place: Place, further: int) -> int:
    """The slot so many further than the target's, around the node. Raises ReadingError when it is the target's own again."""
    cards = next(node.cards for node in place.rig.world.rack.nodes if node.name == place.node)
    if further and cards <= further:
        raise ReadingError(f"{place.node}: has only {cards} cards, so that there is none to compare with")
    return (place.number + further) % cards


def card_page(*keys: str | int) -> Read[object]:
    """Something on the page of the card that is the target."""
    return page(bmc, lambda place: f"Systems/1/Processors/Card{place.number}", *keys)


def find_port(port: str) -> str:
    """The page of a port, below /redfish/v1."""
    _, kind, *rest = port.split("/")
    adapter, number = ("NIC0", "0") if kind == "nic" else (kind.replace("card", "Card"), rest[0].removeprefix("port"))
    return f"Chassis/1/NetworkAdapters/{adapter}/Ports/{number}"


def port_page(*keys: str | int) -> Read[object]:
    """Something on the page of the port that is the target."""
    return page(bmc, lambda place: find_port(place.target), *keys)


def port_number(*keys: str | int) -> Read[float]:
    """A number among the metrics of the port that is the target."""
    return page_number(bmc, lambda place: f"{find_port(place.target)}/Metrics", *keys)


def hca_counter(name: str, port: Name = target) -> Read[float]:
    """A counter of a port in `/sys/class/infiniband`."""

    async def read(place: Place) -> float:
        subject = port(place)
        node = subject.partition("/")[0]
        hca = next((hca for hca, one in list_hcas(place.rig.world.rack, node).items() if one == subject), "")
        text = await read_tree(place.rig, node, f"infiniband/{hca}/ports/1/{name}")
        if not text.isdecimal():
            raise ReadingError(f"{node}: {name} is {text!r}, no number")
        return float(text)

    return read


async def require_on(place: Place) -> None:
    """Raises ReadingError when the BMC says that the node is not on: then no program there ends, whatever else is wrong."""
    try:
        system = await read_page(place.rig, bmc(place), "Systems/1")
    except ReadingError:
        return  # another fault; the program itself may still tell
    if pick(system, "PowerState") != "On":
        raise ReadingError(f"{place.node}: is not on")


def tool_row(name: str, *arguments: str, slot: Callable[[Place], int] = lambda place: place.number) -> Read[str]:
    """A row of what npu-smi prints of a card."""

    async def read(place: Place) -> str:
        run = await run_tool(place.rig, place.node, "npu-smi", "info", *arguments, "-i", str(slot(place)))
        if run.rc:
            raise RefusedError(f"{place.node}: npu-smi: {run.out or run.err}")
        rows = dict(line.strip().split(":", 1) for line in run.out.splitlines() if ":" in line)
        found = {key.strip(): value.strip() for key, value in rows.items()}
        if name not in found:
            raise GarbledError(f"{place.node}: npu-smi prints no {name}")
        return found[name]

    return read


def tool_number(name: str, *arguments: str, further: int = 0) -> Read[float]:
    """A number in such a row, of the target or of a card so many slots further."""
    inner = tool_row(name, *arguments, slot=lambda place: pass_slots(place, further))

    async def read(place: Place) -> float:
        text = await inner(place)
        try:
            return float(text)
        except ValueError as error:
            raise ReadingError(f"{place.target}: {name} is {text!r}, no number") from error

    return read


async def read_neighbour(place: Place, port: str) -> str:
    """The port at the other end of a card's port, by LLDP; empty when nobody answers."""
    card, _, side = port.rpartition("/port")
    slot = card.rpartition("card")[2]
    run = await run_tool(place.rig, place.node, "hccn_tool", "-i", slot, "-port", side, "-lldp", "-g")
    if run.rc:
        raise RefusedError(f"{card}: hccn_tool: {run.err}")
    return run.out.partition("Ifname: ")[2].partition("\n")[0]
