"""Where a device is in the world of NUT: `nut://host:3493/name`."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from supernoded.plugin import WireError

SCHEME = "nut"
PORT = 3493  # assigned by IANA to nut
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")  # of a section of ups.conf; with what has a meaning in the protocol left out
WANTED = "write nut://host/name or nut://host:3493/name, with the name that ups.conf gives it"


class Place(NamedTuple):
    """A device behind a server."""

    host: str
    port: int
    name: str = ""

    @property
    def server(self) -> str:
        """The server as a stream's URL."""
        return f"tcp://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def is_nut(url: str) -> bool:
    """Whether this plugin is meant."""
    return url.startswith(f"{SCHEME}:")


def parse_place(url: str) -> Place:
    """Read `nut://host[:port]/name`. Raises WireError saying what is wrong."""
    place, path = _parse(url, url)
    if not _NAME.fullmatch(path):
        raise WireError(f"{url}: {path!r} is no name of a device; {WANTED}")
    return place._replace(name=path)


def parse_server(key: str) -> Place:
    """Read `host` or `host:port`. Raises WireError saying what is wrong."""
    place, path = _parse(key, f"{SCHEME}://{key}")
    if path:
        raise WireError(f"[plugins.nut.servers] {key!r}: no server; write host or host:3493")
    return place


def _parse(told: str, url: str) -> tuple[Place, str]:
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), PORT if parts.port is None else parts.port
    except ValueError as error:
        raise WireError(f"{told}: {error}; {WANTED}") from error
    if parts.username is not None or parts.password is not None:
        raise WireError(f"a url of {host} holds a login; remove it and set user and password_file in [plugins.nut.servers]")
    if parts.scheme != SCHEME or not host or not port or parts.query or parts.fragment:
        raise WireError(f"{told}: no device of a NUT server; {WANTED}")
    return Place(host, port), parts.path.strip("/")
