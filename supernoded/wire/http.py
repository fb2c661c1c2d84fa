"""A device that speaks JSON over HTTP, such as a Redfish service: answers bounded in time and size, orders by leave of the pen."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, AbstractStreamWriter, ResolveResult

from supernoded.errors import NotHeldError, StatusError, WireError
from supernoded.wire.files import read_text
from supernoded.wire.hop import Hop
from supernoded.wire.names import Lookup
from supernoded.wire.pen import Pen
from supernoded.wire.tls import make_tls

MOST_ANSWER = 4 * 1024 * 1024  # bytes of one answer, unpacked (ours; the largest Redfish resources have some 100 KiB)
MOST_TOLD = 200  # characters of a device's own words that go into an error
CHUNK = 64 * 1024
NO_CONTENT, UNAUTHORISED = 204, 401
PLAIN_JSON = "application/json"
JSON = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Door(msgspec.Struct, frozen=True):
    """Where a service is, and how one is let in. It holds no secret, only the file that has it."""

    base: str
    user: str = ""
    password_file: str = ""
    ca_file: str = ""
    insecure: bool = False
    token_file: str = ""
    body_type: str = PLAIN_JSON


def parse_door(
    url: str,
    user: str = "",
    password_file: str = "",
    ca_file: str = "",
    *,
    insecure: bool = False,
    token_file: str = "",
    body_type: str = PLAIN_JSON,
) -> Door:
    """One spelling per service. Raises WireError for what is no service, and for a secret that would travel in the clear."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError as error:
        raise WireError(f"an http url cannot be read: {error}; write https://host or https://host:port") from error
    if parts.username is not None or parts.password is not None:
        raise WireError(f"the url of {host} holds a login; remove it and set user and password_file")
    if not host or not port or parts.query or parts.fragment:
        raise WireError(f"{url}: no http service; write https://host or https://host:port")
    base = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}{parts.path.rstrip('/')}"
    if user and parts.scheme == "http" and not insecure:
        raise WireError(f"{base}: http sends the password of {user} in the clear; use https, or say insecure = true")
    if token_file and (user or (parts.scheme == "http" and not insecure)):
        raise WireError(f"{base}: a token goes alone, and over https unless the settings say insecure = true")
    return Door(base, user, password_file, ca_file, insecure, token_file, body_type)


class JsonHttp:
    """An `Http`. Every request has a connection of its own: nothing stays open, and no answer is taken for another's."""

    def __init__(self, door: Door, pen: Pen) -> None:
        self.door = door
        self._pen, self._hop, self._free = pen, Hop(), asyncio.Lock()
        self._resolver = _Resolver(door)
        self._pass: _Pass | None = None
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str, within: float = 5.0) -> Mapping[str, object]:
        """See `Http.get`."""
        return await self._exchange("GET", path, None, within)

    async def order(
        self, scope: str, method: str, path: str, body: Mapping[str, object], within: float = 5.0, match: str = ""
    ) -> Mapping[str, object]:
        """See `Http.order`; the headers are held back until the body goes, and the pen is asked in the step in which both do."""
        order = _Order(msgspec.json.encode(body), lambda: self._pen.ask(scope), match, self.door.body_type)
        return await self._exchange(method, path, order, within)

    async def close(self) -> None:
        """See `Http.close`."""
        self._pass = None
        if self._session is not None:
            await self._session.close()

    async def _exchange(self, method: str, path: str, order: _Order | None, within: float) -> Mapping[str, object]:
        url = f"{self.door.base}/{path.lstrip('/')}"  # the host is ours whatever a device's link says
        try:
            async with asyncio.timeout(within), self._free:
                if self._pass is None:
                    self._pass = await self._hop.run(self.door.base, lambda: _make_pass(self.door), within)
                return await self._send(method, url, order, self._pass)
        except TimeoutError as error:
            raise WireError(f"{url}: no whole answer to {method} within {within:g} s") from error
        except WireError:
            raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if order is not None and order.refusal is not None:
                raise order.refusal from None
            raise WireError(f"{url}: {method} failed: {_clip(str(error) or type(error).__name__)}; is the device there?") from error

    async def _send(self, method: str, url: str, order: _Order | None, let_in: _Pass) -> Mapping[str, object]:
        connector = aiohttp.TCPConnector(limit=1, force_close=True, ssl=let_in.tls or True, resolver=self._resolver)
        extra = {"If-Match": order.match} if order is not None and order.match else {}
        jar, unbounded = aiohttp.DummyCookieJar(), aiohttp.ClientTimeout(total=None)
        self._session = aiohttp.ClientSession(connector=connector, cookie_jar=jar, timeout=unbounded, headers=let_in.headers)
        async with self._session as session, session.request(method, url, data=order, headers=extra, allow_redirects=False) as answer:
            data = await _read_bounded(url, answer.content)
            if answer.status == UNAUTHORISED:
                self._pass = None  # the password may have been changed since: its file is read anew
            return _take(url, answer, data)


class _Resolver(AbstractResolver):
    """Looks up the one host that there is, one look-up at a time."""

    def __init__(self, door: Door) -> None:
        parts = urlsplit(door.base)
        self._lookup = Lookup(parts.hostname or "", parts.port or 0)

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        """Called by aiohttp, which then tries one after the other."""
        found = [(address, socket.AF_INET6 if ":" in address else socket.AF_INET) for address, _ in await self._lookup.find()]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
            for address, kind in found
            if family in (socket.AF_UNSPEC, kind)
        ]

    async def close(self) -> None:
        """Called by aiohttp."""


class _Pass(msgspec.Struct, frozen=True):
    """What goes with each request."""

    headers: Mapping[str, str]
    tls: ssl.SSLContext | None

    def __repr__(self) -> str:
        return "a pass"  # never what it holds


def _make_pass(door: Door) -> _Pass:
    """Blocking: reads files. Raises WireError."""
    headers = dict(JSON)
    if door.user:
        password = read_text(Path(door.password_file)) if door.password_file else ""
        headers["Authorization"] = "Basic " + base64.b64encode(f"{door.user}:{password}".encode()).decode()
    elif door.token_file:
        headers["Authorization"] = f"Bearer {read_text(Path(door.token_file))}"
    if not door.base.startswith("https:"):
        return _Pass(headers, None)
    return _Pass(headers, make_tls(door.base, door.ca_file, insecure=door.insecure))


class _Order(aiohttp.BytesPayload):
    """A body that asks before it goes. aiohttp wraps what is raised here, so the refusal is kept."""

    def __init__(self, body: bytes, ask: Callable[[], None], match: str = "", body_type: str = PLAIN_JSON) -> None:
        super().__init__(body, content_type=body_type)
        self.match = match
        self.refusal: NotHeldError | None = None
        self._ask = ask

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Called by aiohttp when it is connected; it has put the headers into a buffer that goes with the first of these bytes."""
        try:
            self._ask()
        except NotHeldError as refusal:
            self.refusal = refusal
            raise
        await super().write_with_length(writer, content_length)


async def _read_bounded(url: str, content: aiohttp.StreamReader) -> bytes:
    data = bytearray()
    async for chunk in content.iter_chunked(CHUNK):
        data += chunk
        if len(data) > MOST_ANSWER:
            raise WireError(f"{url}: answered more than {MOST_ANSWER} bytes, which is no resource")
    return bytes(data)


def _take(url: str, answer: aiohttp.ClientResponse, data: bytes) -> Mapping[str, object]:
    """The object of an answer. Raises WireError with status and reason."""
    if not 200 <= answer.status < 300:
        where = f", to {_clip(answer.headers.get('Location', 'nowhere'))}, which is not followed" if 300 <= answer.status < 400 else ""
        raise StatusError(f"{url}: {answer.status} {_clip(answer.reason or '')}{where or _quote(data)}", answer.status)
    if answer.status == NO_CONTENT or (not data and answer.method != "GET"):
        return {}
    try:
        return msgspec.json.decode(data, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(f"{url}: {answer.status}, but no JSON object in {len(data)} bytes: {_clip(str(error))}") from error


class _Told(msgspec.Struct, frozen=True):
    message: str = ""


class _Refusal(msgspec.Struct):
    """The error body of Redfish (DMTF DSP0266, 8.6), or of Kubernetes (its `Status`)."""

    error: _Told = _Told()
    message: str = ""


def _quote(data: bytes) -> str:
    try:
        refusal = msgspec.json.decode(data, type=_Refusal)
    except (msgspec.DecodeError, RecursionError):
        return ""
    told = refusal.error.message or refusal.message
    return f": {_clip(told)}" if told else ""


def _clip(text: str) -> str:
    return " ".join(text.split())[:MOST_TOLD]
