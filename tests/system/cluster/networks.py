"""Network namespaces of one site: a bridge with what the nodes share behind it, and each node on a cable of its own that can be cut.

Names carry a random part, so that sites of several test processes stand side by side; addresses are the same in each, as none of them
sees another. Processes get in by `ip netns exec`; sockets of the file system reach across, so a test speaks to a daemon past every cut.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SITE = "10.77.0.1"  # where broker and database listen
FIRST = 11  # last number of the first node's address
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21  # linux/capability.h
WITHIN = 20  # seconds for one call of ip or nft
LISTEN = """\
import socket, sys
port, line = socket.create_server((sys.argv[1], 0)), socket.socket(fileno=int(sys.argv[2]))
socket.send_fds(line, [b"."], [port.fileno()])
"""
CHAINS = """\
add table inet cut
add chain inet cut in {{ type filter hook input priority 0; }}
add chain inet cut out {{ type filter hook output priority 0; }}
flush chain inet cut in
flush chain inet cut out
{rules}"""


def find_obstacle() -> str:
    """Why this process may not make network namespaces; empty = it may."""
    if os.geteuid() != 0:
        return "only root can make network namespaces: run these tests as root"
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    effective = int(status["CapEff"], 16)
    lacking = [name for name, bit in (("CAP_NET_ADMIN", CAP_NET_ADMIN), ("CAP_SYS_ADMIN", CAP_SYS_ADMIN)) if not effective >> bit & 1]
    return f"root without {' and '.join(lacking)} cannot make network namespaces" if lacking else ""


def find(program: str) -> str:
    """The path of `ip` or `nft`; a machine without it fails the test, not skips it."""
    found = shutil.which(program, path="/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin")
    package = {"nft": "nftables", "ip": "iproute2"}[program]
    assert found is not None, f"{program} is not installed: `make test` installs it (Debian: apt-get install {package})"
    return found


def call(*command: str, text: str = "") -> None:
    """Run a command to its end, which must be a good one."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=WITHIN, check=False)
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}\n{text}"


@dataclass(frozen=True)
class Port:
    """A service of the site, as a node sees it; 0 = all that goes through its cable."""

    number: int

    def rules(self, ways: str) -> list[str]:
        """What drops its packets: what goes `out`, what comes `in`, or `both`."""
        if self.number:
            out, back = f"ip daddr {SITE} tcp dport {self.number} drop", f"ip saddr {SITE} tcp sport {self.number} drop"
        else:
            out, back = 'oifname "eth0" drop', 'iifname "eth0" drop'
        return [f"add rule inet cut {chain} {rule}" for chain, rule in (("out", out), ("in", back)) if ways in (chain, "both")]


EVERYTHING = Port(0)


@dataclass
class Place:
    """The namespace of one node."""

    space: str
    address: str
    cuts: dict[Port, list[str]] = field(default_factory=dict)

    @property
    def enter(self) -> Sequence[str]:
        """What to put before a command so that it runs here."""
        return (find("ip"), "netns", "exec", self.space)

    def cut(self, what: Port, ways: str = "both") -> None:
        """Drop packets between this node and a service; connections stay, and stand still."""
        self.cuts[what] = what.rules(ways)
        self._apply()

    def heal(self, what: Port | None = None) -> None:
        """Undo the cut of one service, or of everything that was cut."""
        if what is None:
            self.cuts.clear()
        else:
            self.cuts.pop(what, None)
        self._apply()

    def _apply(self) -> None:
        rules = "\n".join(rule for lines in self.cuts.values() for rule in lines)
        call(*self.enter, find("nft"), "-f", "-", text=CHAINS.format(rules=rules) + "\n")


@dataclass(frozen=True)
class Network:
    """What `lay_network` gives."""

    space: str  # of the site

    @property
    def enter(self) -> Sequence[str]:
        """What to put before a command so that it runs beside the bridge."""
        return (find("ip"), "netns", "exec", self.space)

    def listen(self) -> socket.socket:
        """A port of the site's address, for a server of this very process: made in the namespace and handed out."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            command = (*self.enter, sys.executable, "-c", LISTEN, SITE, str(theirs.fileno()))
            subprocess.run(command, pass_fds=[theirs.fileno()], timeout=WITHIN, check=True)
            _, (port,), _, _ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=port)

    @contextmanager
    def place(self, index: int) -> Iterator[Place]:
        """A node's namespace with a cable to the bridge; it goes away again whatever happens."""
        space, port, address = f"{self.space}-{index}", f"port{index}", f"10.77.0.{FIRST + index}"
        with made_space(space):
            batch(self.space, f"link add {port} type veth peer name eth0 netns {space}", f"link set {port} master bridge0 up")
            batch(space, "link set lo up", f"address add {address}/24 dev eth0", "link set eth0 up")
            try:
                yield Place(space, address)
            finally:  # the kernel takes its time over a namespace, and its cable would bar the next node of this name
                batch(self.space, f"link delete {port}")


@contextmanager
def lay_network() -> Iterator[Network]:
    """The namespace of the site with its bridge; it goes away again whatever happens."""
    space = f"snd{secrets.token_hex(4)}"
    with made_space(space):
        batch(space, "link set lo up", "link add bridge0 type bridge", f"address add {SITE}/24 dev bridge0", "link set bridge0 up")
        yield Network(space)


@contextmanager
def made_space(name: str) -> Iterator[None]:
    """One namespace. Its processes must have ended before; what they left of it goes with the last of them."""
    call(find("ip"), "netns", "add", name)
    try:
        yield
    finally:
        with suppress(AssertionError, subprocess.TimeoutExpired):  # what the test has found must not be hidden by this
            call(find("ip"), "netns", "delete", name)


def batch(space: str, *lines: str) -> None:
    """Several commands of `ip` within a namespace."""
    call(find("ip"), "-n", space, "-batch", "-", text="\n".join(lines) + "\n")
