"""What can be asked at the control socket."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import msgspec

from supernoded.chaos.catalogue import suggest
from supernoded.errors import SupernodedError
from supernoded.page import Page
from supernoded.tables import about

S = TypeVar("S", bound=msgspec.Struct)


class ControlError(SupernodedError):
    """A request that cannot be understood, or cannot be done."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request; `do` says which."""


class Inject(Request, frozen=True, kw_only=True):
    """Begin a fault, or go on with other parameters. Without a name it is `<fault>@<target>`."""

    fault: Annotated[str, about("its kind")]
    on: Annotated[str, about("its target")]
    with_: Annotated[dict[str, Any], about("its parameters")] = msgspec.field(default_factory=dict, name="with")
    for_: Annotated[float, about("how long", unit="s", gt=0)] | None = msgspec.field(default=None, name="for")
    name: Annotated[str, about("by which it is lifted")] = ""


class Lift(Request, frozen=True, kw_only=True):
    """End a fault, or all of them."""

    name: Annotated[str, about("of the fault in place")] = ""
    all: Annotated[bool, about("whether all are lifted")] = False


class Manifest(Request, frozen=True, kw_only=True):
    """Whether a fault in place shows in what devices say."""

    name: Annotated[str, about("of the fault in place")]


class Faults(Request, frozen=True, kw_only=True):
    """The catalogue, or the kinds whose names begin so."""

    kind: Annotated[str, about("how the kinds' names begin")] = ""


class Active(Request, frozen=True, kw_only=True):
    """The faults in place."""


class Truth(Request, frozen=True, kw_only=True):
    """What is so: one quantity of a subject, or all of them."""

    subject: Annotated[str, about("such as ups/A")]
    quantity: Annotated[str, about("such as ups.load; empty = all")] = ""


class Sense(Truth, frozen=True, kw_only=True):
    """As `Truth`, but what the sensors show."""


class Sensors(Request, frozen=True, kw_only=True):
    """Where what is measured."""

    pattern: Annotated[str, about("of subjects, or of subject:quantity")] = "*"


class Happened(Request, frozen=True, kw_only=True):
    """What happened, from number `since` on; with `follow` further answers come as more happens."""

    since: Annotated[int, about("number of the first one; the first of all is 0", ge=0)] = 0
    follow: Annotated[bool, about("whether further answers come")] = False


class RackAsked(Request, frozen=True, kw_only=True):
    """Which rack is served, since when."""


REQUESTS: Mapping[str, type[Request]] = MappingProxyType(
    {
        "inject": Inject,
        "lift": Lift,
        "manifest": Manifest,
        "faults": Faults,
        "active": Active,
        "truth": Truth,
        "sense": Sense,
        "sensors": Sensors,
        "happened": Happened,
        "rack": RackAsked,
    }
)


def read_request(line: bytes) -> Request:
    """One line as a request. Raises ControlError that says what is wrong with it."""
    try:
        table = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ControlError(f"this is no line of JSON: {error}") from error
    if not isinstance(table, dict):
        raise ControlError('a request is an object such as {"do": "active"}')
    do = table.pop("do", None)
    if not isinstance(do, str) or do not in REQUESTS:
        raise ControlError(f"do = {str(do)[:40]!r}: no such request; {suggest(str(do)[:40], REQUESTS, 'requests')}")
    return read_table(do, REQUESTS[do], table)


def read_table(name: str, kind: type[S], table: Mapping[str, object]) -> S:
    """A table as what it should be. Raises ControlError that names field, value and range."""
    page = Page(name, "")
    read = page.read(kind, table)
    if read is None or page.problems:
        raise ControlError("\n".join(map(str, page.problems)))
    return read
