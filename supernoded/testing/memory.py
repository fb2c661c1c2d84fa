"""The ports of `supernoded.wire` in memory: what a plugin reads is set by the test, what it writes can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from supernoded.errors import WireError
from supernoded.testing.memory_lines import MemoryDatagrams, MemoryLine
from supernoded.wire import Machine, Pen
from supernoded.wire.ports import Answer, Disk, Find, Greeting, Running
from supernoded.wire.stream import up_to


class MemoryTree:
    """A tree whose `files` are a dict; one that is a WireError cannot be read. `links` are where links lead."""

    def __init__(self, root: str, pen: Pen) -> None:
        self.files: dict[str, str | WireError] = {}
        self.links: dict[str, str] = {}
        self._root, self._pen = root, pen

    async def read(self, path: str) -> str:
        """See `Tree.read`."""
        found = self.files.get(path, WireError(f"{self._root}/{path}: no such file"))
        if isinstance(found, WireError):
            raise found
        return found.strip()

    async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
        """See `Tree.read_all`; a `*` stays within one name, as in a shell."""
        wanted = [path for path in sorted(self.files) if any(_matches(path, pattern) for pattern in patterns)]
        return {path: text.strip() if isinstance(text, str) else text for path in wanted for text in [self.files[path]]}

    async def names(self, path: str = "") -> Sequence[str]:
        """See `Tree.names`."""
        start = f"{path.strip('/')}/".lstrip("/")
        return sorted({file.removeprefix(start).split("/")[0] for file in self.files if file.startswith(start)})

    async def link(self, path: str) -> str:
        """See `Tree.link`."""
        return self.links.get(path, "")

    async def order(self, scope: str, path: str, text: str) -> None:
        """See `Tree.order`."""
        self._pen.ask(scope)
        self.files[path] = text

    async def trim(self, scope: str, path: str, most: int) -> None:
        """See `Tree.trim`; the newest is the one that was added last."""
        self._pen.ask(scope)
        inside = [file for file in self.files if file.startswith(f"{path.strip('/')}/")]
        for file in inside[: max(len(inside) - most, 0)]:
            del self.files[file]


def _matches(path: str, pattern: str) -> bool:
    names, wanted = path.split("/"), pattern.split("/")
    return len(names) == len(wanted) and all(map(fnmatchcase, names, wanted))


class MemoryCommand:
    """A program that `answer` plays: arguments in, `Answer` out. `runs` are the arguments of every run."""

    def __init__(self, name: str, pen: Pen) -> None:
        self.answer: Callable[[Sequence[str]], Answer] | None = None
        self.runs: list[tuple[str, ...]] = []
        self._name, self._pen = name, pen

    async def run(self, *arguments: str, within: float = 10.0) -> Answer:
        """See `Command.run`."""
        del within
        if self.answer is None:
            raise WireError(f"{self._name}: no such program; give the test's command an `answer`")
        self.runs.append(arguments)
        return self.answer(arguments)

    async def order(self, scope: str, *arguments: str, within: float = 10.0) -> Answer:
        """See `Command.order`."""
        self._pen.ask(scope)
        return await self.run(*arguments, within=within)


class MemoryStream:
    """A device that `answer` plays: a request's bytes in, an answer's bytes out. `sent` is every request, in order.

    A greeting is said first, and again after `close` or a failure; `secured` is who signs the certificate, once it has asked for TLS.
    """

    def __init__(self, url: str, pen: Pen) -> None:
        self.answer: Callable[[bytes], bytes] | None = None
        self.sent: list[bytes] = []
        self.closed = False
        self.secured: str | None = None
        self._url, self._pen = url, pen
        self._greeting: Greeting | None = None
        self._open = False

    def greet_with(self, greeting: Greeting) -> None:
        """See `Stream.greet_with`."""
        self._greeting = greeting

    async def exchange(self, request: bytes, end: bytes | Find = b"\n", within: float = 2.0) -> bytes:
        """See `Stream.exchange`."""
        del within
        await self._connect()
        return await self._say(request, end)

    async def order(self, scope: str, request: bytes, end: bytes | Find = b"\n", within: float = 2.0) -> bytes:
        """See `Stream.order`."""
        del within
        await self._connect()
        self._pen.ask(scope)
        return await self._say(request, end)

    async def ask(self, request: bytes, end: bytes | Find = b"\n") -> bytes:
        """See `Opening.ask`."""
        if self.answer is None:
            raise WireError(f"{self._url}: nobody listens; give the test's stream an `answer`")
        self.sent.append(request)
        answer = self.answer(request)
        found = (end if callable(end) else up_to(end))(answer)
        if found is None or found.stop != len(answer):
            raise WireError(f"{self._url}: no whole answer to {request!r}, only {answer!r}")
        return answer[found]

    async def secure(self, ca_file: str = "", *, insecure: bool = False) -> None:
        """See `Opening.secure`."""
        del insecure
        self.secured = ca_file

    async def close(self) -> None:
        """See `Stream.close`."""
        self.closed, self._open = True, False

    async def _connect(self) -> None:
        self.closed = False
        if not self._open and self._greeting is not None:
            await self._greeting(self)
        self._open = True

    async def _say(self, request: bytes, end: bytes | Find) -> bytes:
        self._open = False  # until its answer is whole
        answer = await self.ask(request, end)
        self._open = True
        return answer


class MemoryHttp:
    """A service whose `answers` are a dict, by path; one that is a WireError cannot be had. `orders` are scope, method, path and body."""

    def __init__(self, url: str, pen: Pen) -> None:
        self.answers: dict[str, Mapping[str, object] | WireError] = {}
        self.orders: list[tuple[str, str, str, Mapping[str, object]]] = []
        self.matches: list[str] = []  # the entity tag of each order
        self.closed = False
        self._url, self._pen = url, pen

    async def get(self, path: str, within: float = 5.0) -> Mapping[str, object]:
        """See `Http.get`."""
        del within
        self.closed = False
        found = self.answers.get(path.strip("/"), WireError(f"{self._url}/{path.strip('/')}: 404 Not Found"))
        if isinstance(found, WireError):
            raise found
        return found

    async def order(
        self, scope: str, method: str, path: str, body: Mapping[str, object], within: float = 5.0, match: str = ""
    ) -> Mapping[str, object]:
        """See `Http.order`; the answer is empty."""
        del within
        self._pen.ask(scope)
        self.orders.append((scope, method, path.strip("/"), body))
        self.matches.append(match)
        return {}

    async def close(self) -> None:
        """See `Http.close`."""
        self.closed = True


class MemoryWires:
    """What is opened by URL in memory, one of each name. A scope in `refusals` may not write, for that reason."""

    def __init__(self) -> None:
        self.refusals: dict[str, str] = {}
        self._pen = Pen(self.refusals.get)
        self._trees: dict[str, MemoryTree] = {}
        self._commands: dict[tuple[str, ...], MemoryCommand] = {}
        self._streams: dict[str, MemoryStream] = {}
        self._lines: dict[str, MemoryLine] = {}
        self._datagrams: dict[str, MemoryDatagrams] = {}
        self._services: dict[str, MemoryHttp] = {}

    def tree(self, root: str) -> MemoryTree:
        """The tree at `root`."""
        root = root.removeprefix("tree://")
        return self._trees.setdefault(root, MemoryTree(root, self._pen))

    def command(self, argv: Sequence[str]) -> MemoryCommand:
        """The program with these leading arguments."""
        return self._commands.setdefault(tuple(argv), MemoryCommand(" ".join(argv), self._pen))

    def stream(self, url: str) -> MemoryStream:
        """The device at `url`."""
        if not url.startswith(("tcp://", "unix:///")):
            raise WireError(f"{url!r}: a stream is tcp://host:port or unix:///path")
        return self._streams.setdefault(url, MemoryStream(url, self._pen))

    def line(self, url: str) -> MemoryLine:
        """The line at `url`, whatever its query says."""
        name = url.split("?", maxsplit=1)[0]
        if not name.startswith(("serial:///", "tcp://", "reflex://")):
            raise WireError(f"{url!r}: a line is serial:///path, tcp://host:port or reflex://name")
        return self._lines.setdefault(name, MemoryLine(name, self._pen))

    def datagrams(self, url: str) -> MemoryDatagrams:
        """The device at `url`."""
        if not url.startswith("udp://"):
            raise WireError(f"{url!r}: datagrams go to udp://host:port")
        return self._datagrams.setdefault(url, MemoryDatagrams(url, self._pen))

    def http(
        self,
        url: str,
        *,
        user: str = "",
        password_file: str = "",
        ca_file: str = "",
        insecure: bool = False,
        token_file: str = "",
        body_type: str = "application/json",
    ) -> MemoryHttp:
        """The service at `url`."""
        del user, password_file, ca_file, insecure, token_file, body_type
        if not url.startswith(("http://", "https://")):
            raise WireError(f"{url!r}: a service is https://host[:port] or http://host[:port]")
        return self._services.setdefault(url.rstrip("/"), MemoryHttp(url.rstrip("/"), self._pen))


class MemoryHost:
    """A machine that shows what its fields say."""

    def __init__(self) -> None:
        self.machine = Machine(load=0.5, cpu_percent=10.0, memory_available=8e9, memory_percent=50.0)
        self.mounts: list[Disk] = []
        self.processes: list[Running] = []
        self.kernel: list[str] = []  # lines of the log; each reader begins at its start
        self.opened: dict[int, Sequence[str] | WireError] = {}  # device files by pid; a WireError may not be seen
        self._read: dict[str, int] = {}

    async def look(self) -> Machine:
        """See `Host.look`."""
        return self.machine

    async def disks(self) -> Sequence[Disk]:
        """See `Host.disks`."""
        return list(self.mounts)

    async def top(self, most: int) -> Sequence[Running]:
        """See `Host.top`."""
        return self.processes[:most]

    async def devices(self, pid: int) -> Sequence[str]:
        """See `Host.devices`."""
        found = self.opened.get(pid, ())
        if isinstance(found, WireError):
            raise found
        return found

    async def kernel_lines(self, reader: str = "") -> Sequence[str]:
        """See `Host.kernel_lines`."""
        begun, self._read[reader] = self._read.get(reader, 0), len(self.kernel)
        return self.kernel[begun:]

    def boot_id(self) -> str:
        """See `Host.boot_id`."""
        return "00000000-0000-0000-0000-000000000001"
