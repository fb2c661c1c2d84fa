"""The unix socket at which the daemon borrows lines and asks how they stand. One request outstanding per connection; nothing here waits."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from supernoded.errors import WireError
from supernoded.reflex.bridge import Bridge
from supernoded.reflex.lending import Lending
from supernoded.reflex.standing import describe
from supernoded.wire.reflex import Loan, Reply, Request, Returned

MOST_VISITORS = 32  # connections; ours
LONGEST = 4096  # bytes of a request; ours

_decode: Callable[[bytes], Request] = msgspec.json.Decoder(Request).decode
_encode = msgspec.json.Encoder().encode


class Desk:
    """Listens for the daemon, which runs as the same user."""

    def __init__(self, place: Path, bridge: Bridge, log: logging.Logger) -> None:
        self._place, self._bridge, self._log = place, bridge, log
        self.lendings: Mapping[str, Lending] = {lending.line.settings.name: lending for lending in bridge.lendings}
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        self._visitors: dict[int, Visitor] = {}

    def open(self) -> None:
        """Take the place of a process that is gone. Raises WireError, also when one is there."""
        if self._is_taken():
            raise WireError(f"{self._place}: a reflex process is there already, and its lines have one owner; stop it first")
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._place.unlink(missing_ok=True)
            self._socket.bind(str(self._place))
            self._place.chmod(0o600)
            self._socket.listen(MOST_VISITORS)
        except OSError as error:
            raise WireError(f"{self._place} cannot be listened on: {error}; give its folder to our user") from error
        self._bridge.visitors[self._socket.fileno()] = self._welcome
        self._bridge.refresh()

    def close(self) -> None:
        """Stop listening."""
        for visitor in list(self._visitors.values()):
            self.dismiss(visitor)
        self._place.unlink(missing_ok=True)
        self._socket.close()

    def answer(self, request: Request, visitor: Visitor, now: float) -> None:
        """Deal with one request; the visitor is told once."""
        if not isinstance(request, Loan):
            visitor.tell(describe(self._bridge, now))
        elif (lending := self.lendings.get(request.line)) is None:
            known = ", ".join(self.lendings)
            visitor.tell(Returned(came="refused", text=f"there is no line {request.line} in [[reflex.lines]], there are {known}"))
        else:
            lending.take(request, visitor.tell, now)

    def dismiss(self, visitor: Visitor) -> None:
        """End a connection."""
        self._bridge.visitors.pop(visitor.fd, None)
        self._visitors.pop(visitor.fd, None)
        visitor.close()
        self._bridge.refresh()

    def _is_taken(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as probe:
            return probe.connect_ex(str(self._place)) in (0, errno.EAGAIN)

    def _welcome(self, now: float) -> None:
        del now
        try:
            line, _ = self._socket.accept()
        except OSError:
            return  # it went again
        line.setblocking(False)
        if len(self._visitors) >= MOST_VISITORS:
            line.close()
            return
        visitor = Visitor(line, self)
        self._visitors[visitor.fd] = visitor
        self._bridge.visitors[visitor.fd] = visitor.hear
        self._bridge.refresh()


class Visitor:
    """One connection."""

    def __init__(self, line: socket.socket, desk: Desk) -> None:
        self._line, self._desk = line, desk
        self.fd = line.fileno()
        self._came = bytearray()
        self._waiting = self._gone = False

    def hear(self, now: float) -> None:
        """Take what has come. Whoever says what is no request, or another before the answer, is dismissed."""
        try:
            data = self._line.recv(LONGEST)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._came += data
        said, end, rest = self._came.partition(b"\n")
        if not data or len(self._came) > LONGEST or self._waiting or (end and rest):
            self._desk.dismiss(self)
        elif end:
            self._came.clear()
            self._ask(bytes(said), now)

    def tell(self, reply: Reply) -> None:
        """Answer the request. A visitor who does not take it is dismissed; one who has gone is not told."""
        self._waiting = False
        if self._gone:
            return
        data = _encode(reply) + b"\n"
        try:
            taken = self._line.send(data)
        except OSError:
            taken = 0
        if taken < len(data):
            self._desk.dismiss(self)

    def close(self) -> None:
        """The connection is at an end."""
        self._gone = True
        self._line.close()

    def _ask(self, said: bytes, now: float) -> None:
        try:
            request = _decode(said)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.tell(Returned(came="refused", text=f"this is no request: {error}"))
            return
        self._waiting = True
        self._desk.answer(request, self, now)
