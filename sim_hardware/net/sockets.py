"""What stands for a socket in the simulated network."""

from __future__ import annotations

import socket
import struct
from typing import Any

from sim_hardware.loop.process import Process


class SimSocket:
    """What `get_extra_info("socket")` gives: names, and SO_PEERCRED on a unix socket."""

    def __init__(self, family: socket.AddressFamily, sockname: Any, peername: Any = None, peer: Process | None = None) -> None:
        self.family = family
        self.type = socket.SOCK_STREAM
        self.proto = 0
        self._sockname, self._peername, self._peer = sockname, peername, peer

    def getsockname(self) -> Any:
        """The address of this end."""
        return self._sockname

    def getpeername(self) -> Any:
        """The address of the other end. Raises OSError on a listening socket."""
        if self._peername is None:
            raise OSError("a listening socket has no peer")
        return self._peername

    def setsockopt(self, *option: object) -> None:
        """Accept any option; none has an effect."""

    def getsockopt(self, level: int, option: int, length: int = 0) -> int | bytes:
        """SO_PEERCRED as the kernel packs it; 0, or zeros, for everything else."""
        if (level, option) == (socket.SOL_SOCKET, socket.SO_PEERCRED) and self._peer is not None:
            return struct.pack("3i", *credentials(self._peer))
        return bytes(length) if length else 0

    def fileno(self) -> int:
        """None that the kernel knows."""
        return -1


def credentials(process: Process) -> tuple[int, int, int]:
    """Pid, uid and gid."""
    return process.pid, process.uid, process.gid
