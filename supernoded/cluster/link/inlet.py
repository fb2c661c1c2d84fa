"""A socket as paho reads it, with what is of the moment taken out before: that costs a tenth of what paho needs for a message.

A holder of `fleet` hears a beat a second of every node. paho reads each by three calls of the kernel and builds a table of all MQTT
properties for it. Packets are those of MQTT 5.0, section 3.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable

from aiomqtt.types import PahoSocket

from supernoded.cluster.link.fabric import Message

CHUNK = 65_536  # bytes read at a time
PUBLISH = 0x30  # first byte of a PUBLISH of QoS 0; one that is retained has RETAIN set, too
RETAIN = 0x01
ONE_EXPIRY = b"\x05\x02"  # properties of five bytes, which are MessageExpiryInterval and its four (3.3.2.3.3)
LONGER, LONGEST = 0x80, 4  # a length goes on in the next byte, for so many at most (1.5.5)


class Inlet:
    """Stands in the place of a socket. `take` is given each message of the moment; every other packet is left for `recv`, in order."""

    def __init__(self, sock: PahoSocket, take: Callable[[Message], None]) -> None:
        self.sock, self._take = sock, take
        self._data, self._at = bytearray(), 0  # what has come, and how much of it is read
        self._due = 0  # bytes from there on that paho is to read
        self._end: OSError | None = None
        self._ended = False

    def fill(self) -> bool:
        """Read what has come; whether more of it may be there, some of which wakes no selector, as TLS has decoded it."""
        del self._data[: self._at]
        self._at = 0
        try:
            data = self.sock.recv(CHUNK)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError as error:  # `recv` raises it where paho expects it
            self._end, self._ended = error, True
            return False
        self._ended = not data
        self._data += data
        return len(data) == CHUNK or (isinstance(self.sock, ssl.SSLSocket) and self.sock.pending() > 0)

    def is_due(self) -> bool:
        """Whether paho has something to read: a whole packet, or the end. What is of the moment is taken out on the way there."""
        while not self._due:
            found = find_body(self._data, self._at)
            if found is None:
                return self._ended
            message = read_moment(self._data, self._at, *found)
            if message is None:
                self._due = found[1] - self._at
            else:
                self._at = found[1]
                self._take(message)
        return True

    # What paho asks of a socket -----------------------------------------------------------------------------------------------

    def recv(self, size: int) -> bytes:
        """Of the packet that is due. Raises BlockingIOError when none is, OSError when the link has ended so."""
        if not self._due and self._end is not None:
            raise self._end
        if not self._due and not self._ended:
            raise BlockingIOError
        begin, taken = self._at, min(size, self._due)
        self._at += taken
        self._due -= taken
        return bytes(self._data[begin : self._at])

    def send(self, buffer: bytes | bytearray) -> int:
        """As the socket's own."""
        return self.sock.send(buffer)

    def close(self) -> None:
        """As the socket's own."""
        self.sock.close()

    def fileno(self) -> int:
        """As the socket's own."""
        return self.sock.fileno()

    def setblocking(self, flag: bool) -> None:
        """As the socket's own."""
        self.sock.setblocking(flag)


def find_body(data: bytearray, at: int) -> tuple[int, int] | None:
    """Where the body of the packet at `at` begins and ends; None = it is not whole yet. What is no length is left as it is to the end."""
    length = 0
    for place in range(at + 1, min(at + 1 + LONGEST, len(data))):
        length |= (data[place] & ~LONGER) << 7 * (place - at - 1)
        if data[place] < LONGER:
            end = place + 1 + length
            return (place + 1, end) if end <= len(data) else None
    return (len(data), len(data)) if len(data) > at + LONGEST else None


def read_moment(data: bytearray, at: int, begin: int, end: int) -> Message | None:
    """The packet at `at` if it is a PUBLISH of QoS 0 with no property but an expiry; None = it is for paho, perhaps to refuse it (3.3)."""
    if data[at] | RETAIN != PUBLISH | RETAIN:
        return None
    properties = begin + 2 + int.from_bytes(data[begin : begin + 2])
    if data[properties : min(properties + 1, end)] == b"\x00":
        expiry, payload = 0, properties + 1
    elif data[properties : min(properties + 2, end)] == ONE_EXPIRY and properties + 6 <= end:
        expiry, payload = int.from_bytes(data[properties + 2 : properties + 6]), properties + 6
    else:
        return None
    try:
        topic = data[begin + 2 : properties].decode()
    except UnicodeDecodeError:
        return None
    if not topic:  # an alias, of which we have told no broker that it may use any
        return None
    return Message(topic=topic, payload=bytes(data[payload:end]), retain=bool(data[at] & RETAIN), qos=0, expiry=expiry)
