"""Host names of the simulated site, and the addresses that they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMERIC = re.compile(r"[0-9.]+")
WILD = ("", "0.0.0.0", "::", "*")


@dataclass(frozen=True)
class Place:
    """Where an address leads: a host, and whether over its loopback."""

    host: str
    loopback: bool = False


class Names:
    """Every name is a host, and every host has one address."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}
        self._hosts: dict[str, str] = {}  # by address

    def address(self, host: str) -> str:
        """The address of a host: 10.0.0.1 and so on, in the order in which hosts are named. An address stays what it is."""
        if host == "localhost":
            return "127.0.0.1"
        if host in WILD or NUMERIC.fullmatch(host):
            return host
        if host not in self._addresses:
            number = len(self._addresses) + 1
            self._addresses[host] = f"10.0.{number // 256}.{number % 256}"
            self._hosts[self._addresses[host]] = host
        return self._addresses[host]

    def locate(self, host: str | None, me: str) -> Place:
        """Where an address or a name leads, seen from the host `me`."""
        if host is None or host in WILD:
            return Place(me)
        if host in {"localhost", "::1"} or host.startswith("127."):
            return Place(me, loopback=True)
        return Place(self._hosts.get(host, host))
