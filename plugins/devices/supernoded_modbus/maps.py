"""Register maps: what a device's manual says, as data (safety rule 26)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from supernoded.plugin import PluginError
from supernoded_modbus.kinds import Kind, Order

Table = Literal["holding", "input", "coil", "discrete"]
Seconds = Annotated[float, Meta(ge=0.0, le=86_400.0)]
MOST_REGISTERS = 125  # of one read (Modbus Application Protocol V1.1b3, 6.3)


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unknown keys are refused."""


class Row(_Entry, frozen=True, kw_only=True):
    """One value: value = raw x scale + offset. What has a quantity, or is the clock of another row, is polled; the rest on demand."""

    name: str
    address: Annotated[int, Meta(ge=0, le=99_999)]  # as the manual counts; see `RegisterMap.base`
    table: Table = "holding"
    kind: Kind = "u16"
    order: Order = "abcd"
    length: Annotated[int, Meta(ge=1, le=60)] = 1  # registers of a text or of flags
    scale: float = 1.0
    offset: float = 0.0
    sentinels: tuple[float, ...] = ()  # raw numbers that stand for no value, beside the kind's own
    low: float | None = None  # what is outside is no value, and is not written
    high: float | None = None
    words: Mapping[str, int] = {}  # a text as a number
    flags: tuple[str, ...] = ()  # names of the bits from bit 0
    numbered: bool = False  # flags: bit n - 1 is number n
    quantity: str = ""
    unit: str = "1"
    subject: str = "{subject}"
    clock: str = ""  # the row of the device's clock: this is a moment on it, and the quantity is how long ago that was
    gather: bool = False  # bits of numbered things: the quantity is the set of numbers whose bit is set
    # one for every outlet n of the topology, at address + (n - 1) x stride; or for every node of the loop in its order, n = 0 .., at
    # address + n x stride, with `{node}` in `subject`
    each: Literal["", "outlet", "branch"] = ""
    count: Annotated[int, Meta(ge=1, le=64)] | None = None  # or for n = 0 .. count - 1, at address + n x stride
    stride: Annotated[int, Meta(ge=1)] = 1
    refresh_s: Annotated[float, Meta(gt=0.0, le=86_400.0)] = 1.0  # how often the device renews it; it is polled no oftener
    writable: bool = False
    confirm: str = ""  # the row that shows what a write did; empty = itself
    storage: Literal["ram", "eeprom"] = "ram"
    write_s: Seconds = 0.0  # least time between two writes
    optional: bool = False  # of numbered things: one that has shown no value yet is not there, and nothing is told of it
    may_be_empty: bool = False  # flags: none of them is a state too
    doubted_by: tuple[str, ...] = ()  # flags of a row with `coolant.alarm` that say that this value is none, however normal it looks


class Probe(_Entry, frozen=True, kw_only=True):
    """What must hold before the first write: `low` reads no more than `high` and `slack`, both within `least` and `most`."""

    low: str
    high: str
    least: float
    most: float
    slack: float = 0.0  # by which two sensors of the same thing may differ


class RegisterMap(_Entry, frozen=True, kw_only=True):
    """A map. The rows `model` and `serial`, where it has them, say which device it is."""

    text: str
    models: tuple[str, ...] = ()  # shell patterns of the models it fits
    base: Literal[0, 1] = 0  # the number of the first register in the manual
    gap: Annotated[int, Meta(ge=0, le=64)] = 0  # so many registers without a row may be read along; 0 = the device refuses them
    most: Annotated[int, Meta(ge=1, le=MOST_REGISTERS)] = 60  # registers of one read
    answer_s: Annotated[float, Meta(gt=0.0, le=10.0)] = 0.3  # time-out beside the wire's own time; 300 ms as rackmon has it
    latest_s: Annotated[float, Meta(gt=0.0, le=60.0)] = 0.5  # after which no answer comes any more (safety rule 22)
    rows: tuple[Row, ...]
    probes: tuple[Probe, ...] = ()


def load_map(name: str, folder: str = "") -> RegisterMap:
    """The map of this name: the site's own, else ours. Raises PluginError with file and reason."""
    own = Path(folder) / f"{name}.toml" if folder else None
    ours = resources.files(__package__) / "maps"
    try:
        if own is not None and own.is_file():
            return read_map(own.read_bytes(), str(own))
        file = ours / f"{name}.toml"
        if file.is_file():
            return read_map(file.read_bytes(), f"{name}.toml")
    except OSError as error:
        raise PluginError(f"register map {name}: {error}; see plugins.modbus.maps_folder") from error
    known = ", ".join(sorted(file.name.removesuffix(".toml") for file in ours.iterdir() if file.name.endswith(".toml")))
    raise PluginError(
        f"no register map {name}: ours are {known}, and a site's own stand in plugins.modbus.maps_folder ({folder or 'not set'})"
    )


def read_map(data: bytes, name: str) -> RegisterMap:
    """A map out of its file. Raises PluginError with the file, the row and the reason."""
    try:
        found = msgspec.toml.decode(data, type=RegisterMap)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PluginError(f"register map {name}: {error}") from error
    names = {row.name for row in found.rows}
    if len(names) != len(found.rows):
        raise PluginError(f"register map {name}: two rows have one name")
    for row in found.rows:
        fault = _find_fault(row, names, found)
        if fault:
            raise PluginError(f"register map {name}, row {row.name}: {fault}")
    for probe in found.probes:
        if not {probe.low, probe.high} <= names:
            raise PluginError(f"register map {name}: a probe needs the rows {probe.low} and {probe.high}")
    return found


def _find_fault(row: Row, names: set[str], found: RegisterMap) -> str:
    """Why a row cannot be as it stands; empty = it can."""
    bits = row.table in ("coil", "discrete")
    if bits != (row.kind == "bits"):
        return f"table {row.table} with kind {row.kind}; coils and discrete inputs are `bits`, and nothing else is"
    if row.writable and row.table in ("input", "discrete"):
        return f"{row.table} cannot be written"
    if not row.scale:
        return "scale 0; any other number will do"
    if not 0 <= row.address - found.base <= 0xFFFF:
        return f"address {row.address} with base {found.base} is outside 0 to 65535"
    if row.length > found.most:
        return f"length {row.length}, and one read takes at most {found.most}"
    if row.gather and not (bits and row.each == "outlet"):
        return "only bits of each outlet can be gathered"
    told = {flag for one in found.rows if one.quantity == "coolant.alarm" for flag in one.flags}
    if not set(row.doubted_by) <= told:
        return f"doubted_by {', '.join(row.doubted_by)}, and the rows with coolant.alarm have {', '.join(sorted(told)) or 'no flags'}"
    strange = {name for name in (row.clock, row.confirm) if name} - names
    return f"no row {min(strange)}" if strange else ""
