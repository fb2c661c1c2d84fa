"""A network in memory: TCP, unix sockets and UDP between the hosts of a simulated site."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from contextvars import Context, copy_context

from sim_hardware.loop.calls import Address, Factory
from sim_hardware.loop.process import Process
from sim_hardware.loop.simloop import SimLoop
from sim_hardware.net.datagrams import Datagram
from sim_hardware.net.listener import Listener
from sim_hardware.net.names import Names, Place
from sim_hardware.net.pipes import Mark, Pipe
from sim_hardware.net.wires import Segment, Wires

SYN_WAITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # seconds between dialling attempts: Linux's tcp_syn_retries = 6
FIRST_PORT = 40000  # of those handed out by the network


class Net(Wires):
    """The network of one loop.

    `delay` is the range of one way in seconds, `loss` the share of datagrams lost, `fragment` that of writes that come in two pieces.
    `segments` counts writes, `ghosts` the writes of dead processes, which go nowhere; `watch` is called for each segment that is sent.
    """

    def __init__(self, loop: SimLoop, *, delay: tuple[float, float] = (0.0002, 0.0008), loss: float = 0.0, fragment: float = 0.0) -> None:
        super().__init__(loop, delay, loss, fragment)
        self._pipes: dict[int, Pipe] = {}
        self._tcp: dict[Address, Listener] = {}
        self._unix: dict[tuple[str, str], Listener] = {}
        self._udp: dict[Address, tuple[Datagram, Place]] = {}
        self._names = Names()
        self._port = FIRST_PORT
        loop.network = self
        loop.on_end.append(self._bury)

    def address(self, host: str) -> str:
        """The address of a host; see `Names.address`."""
        return self._names.address(host)

    def _locate(self, host: str | None) -> Place:
        return self._names.locate(host, self.loop.here().host)

    # dialling

    async def dial(self, host: str | None, port: int) -> Pipe:
        """Connect to a host; a host that cannot be reached is tried as Linux does, for 127 s. Raises OSError as the kernel would."""
        me = self.loop.here()
        place = self._locate(host)
        await self._reach(me.host, place.host, port)
        listener = self._tcp.get((place.host, port))
        if listener is None or (listener.loopback and not place.loopback):
            raise OSError(errno.ECONNREFUSED, f"{os.strerror(errno.ECONNREFUSED)}: nobody listens on {place.host}:{port}")
        near, far = ("127.0.0.1", "127.0.0.1") if place.loopback else (self.address(me.host), self.address(place.host))
        return await self._connect(me, listener, socket.AF_INET, (near, self._free_port()), (far, port))

    async def dial_unix(self, path: str) -> Pipe:
        """Connect to a path of one's own host. Raises FileNotFoundError or ConnectionRefusedError."""
        me = self.loop.here()
        await asyncio.sleep(self.way())
        listener = self._unix.get((me.host, path))
        if listener is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if not listener.is_serving() or listener.process.dead:
            raise OSError(errno.ECONNREFUSED, f"{os.strerror(errno.ECONNREFUSED)}: {path} on {me.host} is left over, nobody listens on it")
        return await self._connect(me, listener, socket.AF_UNIX, "", path)

    async def _reach(self, here: str, there: str, port: int) -> None:
        for wait in SYN_WAITS:
            await asyncio.sleep(self.way())
            if not self.apart(here, there):
                return
            await asyncio.sleep(wait)
        raise OSError(errno.ETIMEDOUT, f"{os.strerror(errno.ETIMEDOUT)}: {there}:{port} does not answer {here}")

    async def _connect(
        self, me: Process, listener: Listener, family: socket.AddressFamily, near: Address | str, far: Address | str
    ) -> Pipe:
        mine = self._pipe(me, copy_context(), me.host)
        theirs = self._pipe(listener.process, listener.context.copy(), listener.host)
        mine.other, theirs.other = theirs, mine
        mine.describe(family, near, far)
        theirs.describe(family, far, near)
        self.loop.call_soon(listener.accept, theirs, context=theirs.context)
        try:
            await asyncio.sleep(self.way())
        except asyncio.CancelledError:
            self.carry(mine, Mark.RESET)
            mine.vanish()
            raise
        return mine

    def _pipe(self, process: Process, context: Context, host: str) -> Pipe:
        number = self.loop.number()
        self._pipes[number] = Pipe(self, number, process, context, host)
        return self._pipes[number]

    # listening

    def listen(self, factory: Factory, host: str | None, port: int) -> Listener:
        """Listen on a host's port; 0 takes a free one. Raises OSError when it is taken."""
        place = self._locate(host)
        port = port or self._free_port()
        key = (place.host, port)
        if key in self._tcp:
            raise OSError(errno.EADDRINUSE, f"{os.strerror(errno.EADDRINUSE)}: {place.host}:{port}; {self._tcp[key].process} listens there")
        listener = Listener(self.loop, factory, place.host, (self.address(host or "0.0.0.0"), port), lambda: self._tcp.pop(key, None))
        listener.loopback = place.loopback
        self._tcp[key] = listener
        return listener

    def listen_unix(self, factory: Factory, path: str) -> Listener:
        """Listen on a path of one's own host; the path stays when the listener goes, as a socket file does."""
        host = self.loop.here().host
        self._unix[host, path] = Listener(self.loop, factory, host, path, lambda: None)
        return self._unix[host, path]

    def _free_port(self) -> int:
        self._port += 1
        return self._port

    # datagrams

    def bind(self, protocol: asyncio.DatagramProtocol, local: Address | None, remote: Address | None) -> Datagram:
        """Open a datagram socket. Raises OSError when the address is taken."""
        place = self._locate(local[0] if local else None)
        port = (local[1] if local else 0) or self._free_port()
        key = (place.host, port)
        if key in self._udp:
            raise OSError(errno.EADDRINUSE, f"{os.strerror(errno.EADDRINUSE)}: udp {place.host}:{port}")
        shown = ("127.0.0.1" if place.loopback else self.address(place.host), port)
        end = Datagram(self, self.loop.here(), copy_context(), protocol, host=place.host, local=shown, remote=remote)
        self._udp[key] = (end, place)
        return end

    def throw(self, source: Datagram, data: bytes, target: Address) -> None:
        """Take a datagram to an address, perhaps. The sender hears of a refusal only if its socket is connected."""
        if source.process.dead:
            self.ghosts += 1
            return
        place = self._locate(target[0])
        sender = ("127.0.0.1" if place.loopback else self.address(source.host), source.local[1])
        self.note(Segment(self.loop.time(), "udp", source.process, source.host, place.host, target, data))
        self.deliver(source, place.host, lambda: self._land(source, place, target[1], data, sender))

    def _land(self, source: Datagram, place: Place, port: int, data: bytes, sender: Address) -> None:
        end, bound = self._udp.get((place.host, port), (None, place))
        if end is not None and (place.loopback or not bound.loopback):
            self.loop.call_soon(end.arrive, data, sender, context=end.context)
        elif source.remote is not None:
            error = OSError(errno.ECONNREFUSED, f"{os.strerror(errno.ECONNREFUSED)}: nobody listens on udp {place.host}:{port}")
            self.loop.call_later(self.way(), source.refuse, error, context=source.context)

    # ends that are gone

    def forget(self, end: Pipe | Datagram) -> None:
        """The end is closed for good."""
        if isinstance(end, Pipe):
            self._pipes.pop(end.number, None)
        else:
            self._udp.pop((end.host, end.local[1]), None)

    def _bury(self, process: Process) -> None:
        """What the kernel does for a process that is gone: end of file to its peers if it left by itself, a reset if it was killed."""
        for key in [key for key, listener in self._tcp.items() if listener.process is process]:
            del self._tcp[key]
        for key in [key for key, (end, _) in self._udp.items() if end.process is process]:
            del self._udp[key]
        for pipe in [pipe for pipe in self._pipes.values() if pipe.process is process]:
            self.send(pipe, Mark.EOF if (process.exit_code or 0) >= 0 else Mark.RESET)
            pipe.vanish()

    def close(self) -> None:
        """End all connections without a word: the world is over."""
        for pipe in list(self._pipes.values()):
            pipe.vanish()
