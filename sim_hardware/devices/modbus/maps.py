"""Register maps: data files that say what stands where, in which form, and what a write does."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sim_hardware.devices.modbus.kinds import Kind, WordOrder

Address = Annotated[int, Meta(ge=0, le=0xFFFF)]
Seconds = Annotated[float, Meta(ge=0)]
Scalar = str | int | float | bool


class MapError(Exception):
    """There is no such map, or its file cannot be used."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unknown keys are refused."""


class Action(_Table, frozen=True, kw_only=True):
    """An order that a write gives. In `set`, `{subject}`, `{n}` and `{node}` stand for device, number and node, `@name` for a register."""

    order: str
    value: str = ""  # the field of the order that takes what was written
    word: int | None = None  # only when this was written; a register of which all actions have a word takes no other
    set: dict[str, Scalar] = {}


class Register(_Table, frozen=True, kw_only=True):
    """One value: value = raw x scale + offset."""

    name: str
    address: Address
    table: Literal["holding", "input"] = "holding"
    kind: Kind = "u16"
    order: WordOrder = "big"
    length: Annotated[int, Meta(ge=1, le=60)] = 1  # registers of a text
    scale: float = 1.0
    offset: float = 0.0
    unit: str = ""
    sentinel: float | None = None  # what it shows for no value; without it the kind's own
    quantity: str = ""  # what it measures ...
    subject: str = "{subject}"  # ... of what
    constant: Scalar | None = None  # or what it always shows; with neither it shows what was written last
    words: dict[str, int] = {}  # a text as a number
    flags: tuple[str, ...] = ()  # the names of the bits from bit 0, "" for one without; "numbers" alone: bit n - 1 is n
    refresh_s: Seconds = 0.0  # a new value only so often
    sticky: bool = False  # a bit once seen, by any read, stays until 0 is written
    # one for every outlet n, at address + (n - 1) x stride; or for every node of the loop, n = 0 .., at address + n x stride
    each: Literal["", "outlet", "branch"] = ""
    count: Annotated[int, Meta(ge=1, le=64)] | None = None  # or for n = 0 .. count - 1, at address + n x stride
    stride: Annotated[int, Meta(ge=1)] = 1
    keep: bool = False  # may be written, and is kept
    write: tuple[Action, ...] = ()
    low: float | None = None  # bounds of what may be written, in `unit`
    high: float | None = None
    storage: Literal["ram", "eeprom"] = "ram"
    write_s: Seconds = 0.0  # it is busy so long after a write
    fast_write: Literal["busy", "lost"] = "busy"  # what a write before that meets: exception 6, or an acknowledgement and nothing

    @property
    def writable(self) -> bool:
        """Whether it may be written."""
        return self.keep or bool(self.write) or self.sticky


class Bit(_Table, frozen=True, kw_only=True):
    """One coil or discrete input. It reads true when its quantity has the value `true`; without a quantity it reads false."""

    name: str
    address: Address
    table: Literal["coil", "discrete"] = "coil"
    quantity: str = ""
    subject: str = "{subject}"
    true: str | float = 1.0
    each: Literal["", "outlet"] = ""
    count: Annotated[int, Meta(ge=1, le=64)] | None = None
    stride: Annotated[int, Meta(ge=1)] = 1
    write: tuple[Action, ...] = ()


class RegisterMap(_Table, frozen=True, kw_only=True):
    """A map. `vendor`, `product` and `revision` are what device identification tells."""

    text: str
    vendor: str
    product: str
    revision: str
    serial: str  # the quantity that is its serial number
    mirror: bool = False  # input registers show the holding registers
    gaps: Literal["refuse", "zero"] = "refuse"  # what a read of a register that is not there meets
    registers: tuple[Register, ...]
    bits: tuple[Bit, ...] = ()


def list_maps() -> tuple[str, ...]:
    """The names of the maps that come with the simulator."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml")))


@cache
def load_map(name: str) -> RegisterMap:
    """The map of this name. Raises MapError."""
    file = _folder() / f"{name}.toml"
    if not file.is_file():
        raise MapError(f"{name}: no register map of this name; there are {', '.join(list_maps())}")
    return read_map(file.read_bytes(), name)


def read_map(data: bytes, name: str) -> RegisterMap:
    """A map from the text of its file. Raises MapError, with `name` and where."""
    try:
        return msgspec.toml.decode(data, type=RegisterMap)
    except msgspec.DecodeError as error:  # a ValidationError too
        raise MapError(f"map {name}: {error}") from error


def _folder() -> resources.abc.Traversable:
    return resources.files("sim_hardware.devices.modbus") / "maps"
