"""Where a machine answers past the broker."""

from __future__ import annotations


def parse_address(address: str) -> tuple[str, int] | None:
    """`host:port`, `[v6]:port`; None for anything else."""
    host, colon, port = address.strip().rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not host or not port.isascii() or not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 65_536:
        return None
    return host, int(port)
