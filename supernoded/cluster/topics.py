"""The topic tree and what is said on it: JSON of msgspec types with a schema number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from supernoded.cluster.columns import Column
from supernoded.errors import SettingsError, SupernodedError
from supernoded.model import Event, Hold, Outcome, Reading

ROOT = "supernode/v1"
SCHEMA = 1
MAX_PAYLOAD = 65_536  # bytes; the embedded broker and slow links take this much, and nothing of ours comes near it
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

P = TypeVar("P", bound="Payload")
W = TypeVar("W")


class PayloadError(SupernodedError):
    """What arrived, or was to be sent, is not a payload of this topic."""


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What all payloads share. Times are in seconds since the Unix epoch by the sender's clock."""

    node: str
    life: str  # of the daemon that speaks: another one after each start
    at: float
    schema: int = SCHEMA


class Presence(Payload, frozen=True, kw_only=True):
    """Retained; a hint, not a proof: the will says offline, possibly late, and only for its own life."""

    since: float  # start of that life
    online: bool
    version: str = ""


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """What a beat tells of the node; None = not known."""

    state: str = "up"
    power: float | None = None  # watts of its cards
    hottest: float | None = None  # degrees Celsius of the hottest die
    step: int | None = None  # of the training job


class Beat(Payload, frozen=True, kw_only=True):
    """Once a second, never retained: the proof that this life is there."""

    since: float  # start of that life
    version: str = ""
    vitals: Vitals = Vitals()


class EventTold(Payload, frozen=True, kw_only=True):
    """One event, at least once; `event.id` tells a repetition."""

    event: Event


class OutcomeTold(Payload, frozen=True, kw_only=True):
    """One outcome, at least once; `outcome.action` and `outcome.result` tell a repetition."""

    outcome: Outcome
    kind: str = ""  # of the action
    target: str = ""
    reason: str = ""  # the sentence of the step: what was seen and why this is done


class Digest(Payload, frozen=True, kw_only=True):
    """The newest of what role-scoped parts watch of this node, all of it each time; times of readings are by the sender's clock, too."""

    number: int  # of the message: what is missing between two of one life was lost on the way
    columns: tuple[Column, ...]
    rest: tuple[Reading, ...]  # what is not GOOD, or has a note


class JobHere(msgspec.Struct, frozen=True, kw_only=True):
    """What a node has of a job."""

    name: str
    lowest: int | None = None  # of its ranks that are connected here; None = none is
    launcher: bool = False


class JobsTold(Payload, frozen=True, kw_only=True):
    """Retained: the jobs that are connected to this node; orders to them go there."""

    jobs: tuple[JobHere, ...]


class HoldTold(Payload, frozen=True, kw_only=True):
    """A hold as this node knows it, retained on a topic of its own; once lifted it stays lifted."""

    hold: Hold


class RoleView(Payload, frozen=True, kw_only=True):
    """Retained, from the holder of a role: since which epoch, and until when it stands without being renewed."""

    role: str
    epoch: int
    until: float
    held: bool = True  # False = it has been given back


class NodeTold(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One node, as the holder of the role `fleet` sees it; None and empty = not known. `heard` is by its clock."""

    name: str
    state: str  # up, late, gone, daemon gone, unknown
    text: str = ""  # what is wrong with it
    heard: float | None = None  # when it last beat
    life: str = ""
    version: str = ""
    said: str = ""  # what it says of its own state
    power: float | None = None  # watts
    hottest: float | None = None  # degrees Celsius of the hottest die
    step: int | None = None  # of the training job
    offset: float | None = None  # its clock minus the holder's, seconds


class FleetTold(Payload, frozen=True, kw_only=True):
    """Retained and renewed every 5 s by the holder of the role `fleet`: one part of all nodes."""

    part: int
    parts: int
    nodes: tuple[NodeTold, ...]


class Sealed(Payload, frozen=True, kw_only=True):
    """A signed command or its answer: `body` is the JSON that was signed, as it is; `certificate` is the sender's, PEM."""

    body: str
    signature: str  # Ed25519 over the bytes of `body`, base64
    certificate: str


class _Peek(msgspec.Struct):
    schema: int


_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_decoders: dict[type[Payload], msgspec.json.Decoder[Any]] = {}  # one for each kind: thousands come in a second


def check_name(name: str, what: str) -> str:
    """`name`, when it can stand as one level of a topic. Raises SettingsError."""
    if _NAME.fullmatch(name) is None:
        message = f"{what} name {name[:80]!r} cannot be part of a topic: use 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit"
        raise SettingsError(message)
    return name


def of_node(cluster: str, node: str, leaf: str) -> str:
    """The topic of what a node says. Raises SettingsError for names with `/`, `+`, `#` or worse."""
    return f"{ROOT}/{check_name(cluster, 'cluster')}/node/{check_name(node, 'node')}/{leaf}"


def of_nodes(cluster: str, leaf: str) -> str:
    """The filter for what all nodes of a cluster say."""
    return f"{ROOT}/{check_name(cluster, 'cluster')}/node/+/{leaf}"


def presence(cluster: str, node: str) -> str:
    """Retained: whether a life of the node's daemon is on line."""
    return of_node(cluster, node, "presence")


def beat(cluster: str, node: str) -> str:
    """Once a second."""
    return of_node(cluster, node, "beat")


def digest(cluster: str, node: str) -> str:
    """Every 5 s and on change; never retained."""
    return of_node(cluster, node, "digest")


def event(cluster: str, node: str) -> str:
    """Every event of the node."""
    return of_node(cluster, node, "event")


def outcome(cluster: str, node: str) -> str:
    """Every outcome of the node's actions."""
    return of_node(cluster, node, "outcome")


def fleet(cluster: str, node: str, part: int) -> str:
    """Retained: one part of all nodes, as `node` tells it while it has the role `fleet`."""
    return f"{of_node(cluster, node, 'fleet')}/{part}"


def of_fleet(cluster: str, node: str) -> str:
    """The filter for all parts of that."""
    return f"{of_node(cluster, node, 'fleet')}/+"


def jobs(cluster: str, node: str) -> str:
    """Retained: which jobs have ranks or their launcher on this node."""
    return of_node(cluster, node, "jobs")


def hold(cluster: str, node: str, id_: str) -> str:
    """Retained: one hold that this node has placed or lifted."""
    return f"{of_node(cluster, node, 'hold')}/{check_name(id_, 'hold')}"


def of_holds(cluster: str) -> str:
    """The filter for all holds."""
    return f"{ROOT}/{check_name(cluster, 'cluster')}/node/+/hold/+"


def role_view(cluster: str, role: str) -> str:
    """Retained: who has a role. Raises SettingsError."""
    levels = [check_name(level, "role") for level in role.split("/")]
    return f"{ROOT}/{check_name(cluster, 'cluster')}/role/{'/'.join(levels)}/view"


def of_role_views(cluster: str) -> str:
    """The filter for the views of all roles."""
    return f"{ROOT}/{check_name(cluster, 'cluster')}/role/#"


def command(cluster: str, node: str) -> str:
    """Signed commands to a node; the answer goes to the message's response topic."""
    return f"{ROOT}/{check_name(cluster, 'cluster')}/command/{check_name(node, 'node')}"


def answer(cluster: str, node: str) -> str:
    """Signed answers to what a node has asked of others."""
    return of_node(cluster, node, "answer")


def is_of_moment(filter_: str) -> bool:
    """Whether what comes on a filter is soon said anew: then it is not worth an acknowledgement of each."""
    return filter_.endswith(("/beat", "/digest"))


def matches(filter_: str, topic: str) -> bool:
    """Whether an MQTT filter with `+` and `#` takes a topic (MQTT 5, 4.7; names that begin with `$` are none of ours)."""
    wanted, levels = filter_.split("/"), topic.split("/")
    for index, level in enumerate(wanted):
        if level == "#":
            return True
        if index >= len(levels) or level not in ("+", levels[index]):
            return False
    return len(wanted) == len(levels)


def encode(payload: Payload) -> bytes:
    """JSON. Raises PayloadError above MAX_PAYLOAD: a broker would end the link over it, again and again."""
    data = msgspec.json.encode(payload)
    if len(data) > MAX_PAYLOAD:
        raise PayloadError(
            f"a {type(payload).__name__} of {len(data)} bytes is more than the {MAX_PAYLOAD} that may be sent: shorten its texts"
        )
    return data


def pack(words: Sequence[W], most: int, make: Callable[[tuple[W, ...], int, int], Payload]) -> list[bytes]:
    """Many words in several payloads, at most `most` in each and fewer where they are long.

    `make` is given the words of one, its number, and how many there are. Raises PayloadError for a word that is too long alone.
    """
    parts = max(-(-len(words) // most), 1)
    try:
        return [encode(make(tuple(words[part * most : (part + 1) * most]), part, parts)) for part in range(parts)]
    except PayloadError:
        if most == 1:
            raise
    return pack(words, most // 2, make)


def decode(data: bytes, type_: type[P]) -> P:
    """The payload. Raises PayloadError for what is too long, no JSON, of another schema or of another shape."""
    name = type_.__name__
    if len(data) > MAX_PAYLOAD:
        raise PayloadError(f"not a {name}: {len(data)} bytes, at most {MAX_PAYLOAD} are read")
    with suppress(*_UNREADABLE):
        decoder = _decoders.get(type_) or _decoders.setdefault(type_, msgspec.json.Decoder(type_))
        payload: P = decoder.decode(data)
        if payload.schema == SCHEMA and b'"schema"' in data:  # one that does not say its schema would get ours
            return payload
    try:
        schema = msgspec.json.decode(data, type=_Peek).schema
        if schema != SCHEMA:
            raise PayloadError(f"a {name} of schema {schema}, this daemon reads schema {SCHEMA}: run one version on all nodes")
        return msgspec.json.decode(data, type=type_)
    except _UNREADABLE as error:
        raise PayloadError(f"not a {name}: {error}; it begins with {data[:40]!r}") from error
