"""What a class of devices shows in which columns: data, one TOML file per class in `profiles/`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from supernoded.plugin import PluginError
from supernoded_snmp.asn import Oid, parse_oid
from supernoded_snmp.index import find_names

Dotted = Annotated[str, msgspec.Meta(pattern=r"^\d+(\.\d+)+$")]
BUILT_IN = ("rfc1628", "apc-rpdu2", "apc-rpdu", "raritan-px2", "sentry3")  # in the order in which they are tried


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One column, or one scalar with the index `0`. What it refers to by name are columns with the same index."""

    oid: Dotted
    quantity: str  # `{phase}` and the like are numbers out of the index
    unit: str
    index: str = "0"  # `place.outlet.5`: numbers, `place` (as the URL says), and names for what is taken out
    subject: str = ""  # below the device's own: `outlet{outlet}`
    scale: float = 1.0
    digits: Dotted | None = None  # column with the power of ten by which it is too large
    unknown: tuple[float, ...] = (-1.0,)  # raw values that mean nothing (safety: never 0, never a number)
    least: float = -math.inf  # below and above which it is no measurement, in its unit: the agent's scale is another one
    most: float = math.inf
    witness: Mapping[Dotted, float] = {}  # columns of the row and what is the most there; above it the row's scale is another one
    words: Mapping[int, str] = {}  # of a text: raw value -> word
    flags: Mapping[int, str] = {}  # of flags: raw value, or last number of a name -> flags, separated by blanks
    other: str | None = None  # flags of what is not in `flags`; None = it is not known
    base: Dotted | None = None  # names that are not below this one are `other`, whatever their last number
    count: Dotted | None = None  # scalar with the number of rows; fewer are a table that changed while it was read
    only: Mapping[Dotted, int] = {}  # rows of which these columns say something else are not this quantity
    alive: Mapping[Dotted, int] = {}  # rows of which these say something else have no value now
    lines: Dotted | None = None  # scalar with the number of lines; rows above it are not there, whatever they say
    times: Dotted | None = None  # column by which it is multiplied
    fahrenheit: Dotted | None = None  # column that is 1 where the value is in F
    whole: Literal["", "lowest", "sum", "mean"] = ""  # how phases make the value of the whole
    phases: bool = True  # False = the whole alone is given
    wraps: bool = False  # a Counter32, which begins anew at 2^32

    def list_references(self) -> Iterator[Dotted]:
        """The columns beside it that must be read."""
        yield from self.only
        yield from self.alive
        yield from self.witness
        yield from (column for column in (self.digits, self.times, self.fahrenheit) if column is not None)


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an outlet is switched. Its numbers have nothing to do with those of the status column (APC: they are opposite)."""

    oid: Dotted
    on: int
    off: int
    index: str = "outlet"


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One class of devices."""

    name: str
    text: str
    source: str
    of: Literal["ups", "pdu"]
    columns: tuple[Column, ...]
    products: tuple[Dotted, ...] = ()  # beginnings of sysObjectID
    probe: Dotted | None = None  # a column that only such a device has
    place: Annotated[str, msgspec.Meta(pattern=r"^(\d+(\.\d+)*)?$")] = ""  # the usual one
    command: Command | None = None

    def find_place(self, wanted: Oid | None) -> Oid:
        """As the URL says, else the usual one."""
        return wanted if wanted is not None else parse_oid(self.place) if self.place else ()

    def list_outlet_columns(self) -> tuple[Column, ...]:
        """Those that tell of one outlet."""
        return tuple(column for column in self.columns if column.quantity.startswith("outlet."))


@lru_cache(maxsize=1)
def load_built_in() -> tuple[Profile, ...]:
    """Ours, in the order in which they are tried."""
    folder = files("supernoded_snmp") / "profiles"
    return tuple(parse_profile(name, (folder / f"{name}.toml").read_bytes()) for name in BUILT_IN)


def load_profiles(more: Iterable[str]) -> tuple[Profile, ...]:
    """The site's own before ours; one of the same name takes the place of ours. Raises PluginError."""
    own = [_read_profile(Path(path)) for path in more]
    names = {profile.name for profile in own}
    return (*own, *(profile for profile in load_built_in() if profile.name not in names))


def _read_profile(path: Path) -> Profile:
    try:
        return parse_profile(str(path), path.read_bytes())
    except OSError as error:
        raise PluginError(f"profile {path}: {error.strerror}; give paths of files in [plugins.snmp] profiles") from error


def parse_profile(name: str, data: bytes) -> Profile:
    """A profile out of its file. Raises PluginError."""
    try:
        profile = msgspec.toml.decode(data, type=Profile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PluginError(f"profile {name}: {error}") from error
    for column in profile.columns:
        unknown = find_names(column.subject, column.quantity) - set(column.index.split("."))
        if unknown:
            raise PluginError(f"profile {name}: {column.oid} names {', '.join(sorted(unknown))}, which its index {column.index!r} lacks")
    return profile
