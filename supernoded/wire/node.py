"""What a plugin is given of its node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from supernoded.clock import Clock
from supernoded.limits import Limits
from supernoded.topology import Topology
from supernoded.wire.ports import Command, Datagrams, Host, Http, Line, Stream, Tree


class Wires(Protocol):
    """Opens devices by URL. A device has one owner: a second opener of a line is refused by name."""

    def tree(self, root: str) -> Tree:
        """A file tree: a path or `tree:///path`."""
        ...

    def command(self, argv: Sequence[str]) -> Command:
        """A program with its leading arguments."""
        ...

    def stream(self, url: str) -> Stream:
        """`tcp://host:port` or `unix:///path`. Raises WireError for another scheme or a line somebody else owns."""
        ...

    def line(self, url: str) -> Line:
        """A line that units share.

        `serial:///dev/ttyUSB0?baud=115200&parity=N&stop=1&echo=no&adapter_ms=0`, `tcp://host:port` (a Modbus TCP device, or a gateway with
        a serial line behind it: that is one line too), or `reflex://name` (a line that the reflex process owns and lends). Other keys of
        the query are for whoever speaks over it. Raises WireError for another scheme, a bad query or a line somebody else owns.
        """
        ...

    def datagrams(self, url: str) -> Datagrams:
        """`udp://host:port`. Raises WireError for another scheme, or a device somebody else owns."""
        ...

    def http(
        self,
        url: str,
        *,
        user: str = "",
        password_file: str = "",
        ca_file: str = "",
        insecure: bool = False,
        token_file: str = "",
        body_type: str = "application/json",
    ) -> Http:
        """`https://host[:port]` or `http://...`, with Basic authentication as `user`, or with the bearer token in `token_file`.

        `ca_file` = who signs its certificate; `body_type` = the media type of orders; `insecure` = any certificate will do, and a secret
        may go over http. Raises WireError for another scheme, for a service that
        somebody else owns, and for a second door to the same service.
        """
        ...


def is_covered(subject: str, patterns: Iterable[str]) -> bool:
    """Whether a subject is one of these, below one of these, or fits one of these shell patterns."""
    return any(subject == pattern or subject.startswith(pattern + "/") or fnmatchcase(subject, pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Node:
    """The node a plugin works on."""

    name: str
    topology: Topology
    limits: Limits
    wires: Wires
    clock: Clock
    host: Host
    state: Path  # a folder of the daemon's own for things that must survive it
    maintenance: Sequence[str] = ()  # subjects, or shell patterns over them, that the settings put under maintenance for this plugin
    shared: dict[type[object], object] = field(default_factory=dict, repr=False, compare=False)  # by type: of the hooks of one plugin
    relied_on: Sequence[str] = ()  # nodes that carry the broker, the database or copies of checkpoints, as far as the settings tell

    def is_under_maintenance(self, subject: str) -> bool:
        """Whether the settings say that people work on it, so that its troubles are theirs."""
        return is_covered(subject, self.maintenance)
