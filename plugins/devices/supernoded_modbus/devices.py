"""Which devices this plugin serves, and the URL of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from supernoded.plugin import CoolantLoop, Pdu, Topology, WireError
from supernoded_modbus.settings import ModbusSettings

SCHEMES = ("serial", "modbus", "reflex")
PORT = 502  # of Modbus TCP
_OURS = frozenset({"unit", "map", "serial", "framing"})  # keys of a wire's query that are not the line's
_MAPS = {"ups": "ups", "pdu": "pdu", "cdu": "rpu"}  # where a wire names none


class Place(NamedTuple):
    """Where a device is: a line and a number on it."""

    line: str  # URL
    unit: int
    map: str
    serial: str
    tcp: bool
    baud: int


class Device(NamedTuple):
    """A device to be served. `orders` = it is its wire in the topology, or the settings say so."""

    name: str
    subject: str
    scope: str
    place: Place
    orders: bool
    pdu: Pdu | None = None
    loop: CoolantLoop | None = None
    branches: tuple[str, ...] = ()  # the nodes of its loop, in the order of the topology


def list_devices(settings: ModbusSettings, site: Topology) -> Iterator[Device]:
    """Those of the topology whose wire has one of our schemes, then those of the settings. Raises WireError for a wire that is none."""
    scopes = dict(_list_scopes(site))
    wires = [(f"ups/{ups.name}", ups.wire) for ups in site.ups] + [(f"pdu/{pdu.name}", pdu.wire) for pdu in site.pdus]
    wires += [(loop.subject, loop.wire) for loop in site.loops]
    for subject, wire in wires:
        if urlsplit(wire).scheme in SCHEMES:
            yield _describe(site, Device(subject, subject, scopes[subject], _locate(subject, wire, settings), orders=True))
    for name, one in settings.views.items():
        if one.subject not in scopes:
            raise WireError(f"plugins.modbus.views.{name}: the topology has no {one.subject}")
        place = _locate(one.subject, one.wire, settings)
        yield _describe(site, Device(f"{one.subject}.{name}", one.subject, scopes[one.subject], place, one.orders))


def _describe(site: Topology, device: Device) -> Device:
    """What the topology says of it."""
    pdu = next((pdu for pdu in site.pdus if f"pdu/{pdu.name}" == device.subject), None)
    loop = next((loop for loop in site.loops if loop.subject == device.subject), None)
    branches = tuple(node.name for node in site.nodes if loop is not None and node.loop == loop.name)
    return device._replace(pdu=pdu, loop=loop, branches=branches)


def _list_scopes(site: Topology) -> Iterator[tuple[str, str]]:
    """Who reads a device: the holder of its feed's role, or of its loop's."""
    yield from ((f"ups/{ups.name}", f"feed/{ups.name}") for ups in site.ups)
    yield from ((f"pdu/{pdu.name}", f"feed/{pdu.feed}") for pdu in site.pdus)
    yield from ((loop.subject, loop.subject) for loop in site.loops)


def _locate(subject: str, wire: str, settings: ModbusSettings) -> Place:
    place = parse_wire(wire, _MAPS[subject.partition("/")[0]])
    return place._replace(serial=settings.serials.get(subject, place.serial))


def parse_wire(url: str, map_name: str) -> Place:
    """Read `serial:///dev/ttyUSB0?baud=115200&unit=1&map=pdu`, `modbus://host:502?unit=1&map=rpu` or `reflex://line?unit=1&map=pdu`.

    `serial` = the serial number that must be there; `framing=rtu` on `modbus://` = a serial server, which passes frames on as they are.
    Raises WireError with what is wrong.
    """
    try:
        parts = urlsplit(url)
        query, port = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query))), parts.port
        unit, baud = int(query.get("unit", "1")), int(query.get("baud", "19200" if parts.scheme == "serial" else "0"))
    except ValueError as error:
        raise WireError(
            f"{url}: {error}; write serial:///dev/ttyUSB0?baud=115200&unit=1&map=pdu or modbus://host:502?unit=1&map=rpu"
        ) from error
    tcp = parts.scheme == "modbus" and query.get("framing", "tcp") == "tcp"
    if parts.scheme not in SCHEMES or query.get("framing", "tcp") not in ("tcp", "rtu"):
        raise WireError(f"{url}: serial://, modbus:// or reflex:// with framing=tcp or framing=rtu is due")
    if not (0 if tcp else 1) <= unit <= (255 if tcp else 247):
        raise WireError(f"{url}: unit {unit}; serial units are 1 to 247, those of Modbus TCP 0 to 255")
    rest = urlencode(sorted((key, value) for key, value in query.items() if key not in _OURS), safe="/:")
    address = f"tcp://{parts.hostname or ''}:{port or PORT}" if parts.scheme == "modbus" else f"{parts.scheme}://{parts.netloc}{parts.path}"
    return Place(f"{address}?{rest}" if rest else address, unit, query.get("map", map_name), query.get("serial", ""), tcp, baud)


def name_line(name: str) -> str:
    """`line/ttyUSB0` of `serial:///dev/ttyUSB0`, `line/10.0.0.7:502` of `tcp://10.0.0.7:502`."""
    return f"line/{name.partition('?')[0].rstrip('/').rpartition('/')[2]}"
