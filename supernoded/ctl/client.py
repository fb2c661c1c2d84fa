"""HTTP over the admin socket with the standard library alone, so that supernodectl starts quickly. Every wait is bounded."""

from __future__ import annotations

import contextlib
import grp
import http.client
import os
import pwd
import socket
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, NamedTuple, Self, TypeVar
from urllib.parse import urlencode

import msgspec

from supernoded.errors import AdminError
from supernoded.messages import SCHEMA, VERSION_PATH, Answer, Filter, ModeChange, Problem, encode

T = TypeVar("T", bound=Answer)

SYSTEM_SOCKET = Path("/run/supernoded/admin.sock")
LARGEST_ANSWER = 64 * 2**20  # bytes

HINT = """\
Is it running?   systemctl status supernoded
Start it:        sudo systemctl start supernoded    or, in the foreground, supernoded --config FILE
Another socket:  supernodectl --socket PATH, or set SUPERNODED_SOCKET"""


class UnreachableError(AdminError):
    """Nobody answers on the admin socket, or something that is not the daemon."""


class Reply(NamedTuple, Generic[T]):
    """An answer as a message and as it came."""

    answer: T
    body: bytes


class _Envelope(msgspec.Struct):
    schema: int


def list_sockets(given: Path | None) -> tuple[Path, ...]:
    """Where to look for the daemon, in this order."""
    named = given or os.environ.get("SUPERNODED_SOCKET")
    if named:
        return (Path(named),)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return (SYSTEM_SOCKET, Path(runtime) / "supernoded/admin.sock") if runtime else (SYSTEM_SOCKET,)


class AdminClient:
    """Asks one question a connection. `patience` is in seconds, for the whole exchange."""

    def __init__(self, sockets: Sequence[Path], patience: float) -> None:
        self._sockets, self._patience = sockets, patience

    def get(self, path: str, kind: type[T], wanted: Filter | None = None) -> Reply[T]:
        """Ask. Raises UnreachableError, or AdminError with the daemon's sentence when it says no."""
        query = f"?{urlencode(_to_query(wanted))}" if wanted is not None else ""
        return self._ask("GET", f"{VERSION_PATH}/{path}{query}", kind, None)

    def put(self, path: str, kind: type[T], body: ModeChange) -> Reply[T]:
        """Change something. Raises as `get`."""
        return self._ask("PUT", f"{VERSION_PATH}/{path}", kind, encode(body))

    def post(self, path: str, kind: type[T], body: msgspec.Struct) -> Reply[T]:
        """Ask for something to be done. Raises as `get`."""
        return self._ask("POST", f"{VERSION_PATH}/{path}", kind, encode(body))

    def delete(self, path: str, kind: type[T]) -> Reply[T]:
        """End something. Raises as `get`."""
        return self._ask("DELETE", f"{VERSION_PATH}/{path}", kind, None)

    def _ask(self, method: str, path: str, kind: type[T], body: bytes | None) -> Reply[T]:
        line, place = self._connect()
        with line, _Cut(line, self._patience) as cut:
            connection = http.client.HTTPConnection("localhost")
            connection.sock = line
            try:
                connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
                response = connection.getresponse()
                got = response.read(LARGEST_ANSWER + 1)
            except (OSError, http.client.HTTPException) as error:
                if cut.happened:
                    raise UnreachableError(
                        f"the daemon at {place} did not answer within {self._patience:g} s; it is stuck or overloaded"
                    ) from error
                raise UnreachableError(
                    f"{place} gives no proper answer ({type(error).__name__}: {error}); is it supernoded's socket?"
                ) from error
        if cut.happened or len(got) > LARGEST_ANSWER:
            raise UnreachableError(f"the answer of {place} did not end within {self._patience:g} s or {LARGEST_ANSWER} bytes")
        return _interpret(response.status, got, kind, place)

    def _connect(self) -> tuple[socket.socket, Path]:
        tried = []
        for path in self._sockets:
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            line.settimeout(self._patience)
            try:
                line.connect(str(path))
            except OSError as error:
                line.close()
                tried.append(f"  {path}: {_explain(path, error)}")
            else:
                line.settimeout(None)  # from here on the whole exchange is bounded, not each of its steps
                return line, path
        raise UnreachableError("\n".join(["no daemon can be reached:", *tried, HINT]))


class _Cut:
    """Cuts a line after so many seconds, whatever it is waiting for: a peer that trickles cannot stretch it."""

    def __init__(self, line: socket.socket, seconds: float) -> None:
        self.happened = False
        self._line = line
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def _cut(self) -> None:
        self.happened = True
        with contextlib.suppress(OSError):  # it is closed already
            self._line.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _to_query(wanted: Filter) -> dict[str, str]:
    fields = msgspec.to_builtins(wanted)
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in fields.items() if value not in ("", None)
    }


def _interpret(status: int, body: bytes, kind: type[T], place: Path) -> Reply[T]:
    try:
        schema = msgspec.json.decode(body, type=_Envelope).schema
        if schema != SCHEMA:
            raise AdminError(
                f"the daemon speaks schema {schema} of the admin interface, this supernodectl {SCHEMA}; use the daemon's version"
            )
        if status != http.HTTPStatus.OK:
            raise AdminError(msgspec.json.decode(body, type=Problem).error)
        return Reply(msgspec.json.decode(body, type=kind), body)
    except msgspec.DecodeError as error:
        if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise AdminError(f"the daemon failed on this request (HTTP {status}); its log says why: journalctl -u supernoded") from error
        raise UnreachableError(f"{place} gives no proper answer (HTTP {status}: {error}); is it supernoded's socket?") from error


def _explain(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file: no daemon runs, or it has another socket"
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens: the daemon that made it has ended" if path.is_socket() else "is no socket"
    if isinstance(error, PermissionError):
        return f"permission denied{_name_owner(path)}"
    if isinstance(error, BlockingIOError | TimeoutError):
        return "its queue is full: the daemon is stuck or overloaded"
    return error.strerror or str(error)


def _name_owner(path: Path) -> str:
    try:
        made = path.stat()
    except OSError:
        return f": you may not look into {path.parent}"
    try:
        group, user = grp.getgrgid(made.st_gid).gr_name, pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        group, user = str(made.st_gid), "USER"
    return f": it belongs to group {group}, mode {stat.S_IMODE(made.st_mode):04o}; `sudo usermod -aG {group} {user}`, then log in again"
