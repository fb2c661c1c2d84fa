"""What a training script imports to speak with the daemon of its node. One file, standard library alone, Python 3.8 or later.

Copy it beside the script if you like. Nothing here raises because of the daemon, or waits for it while the job trains: without one every
call does nothing. Everything that counts is kept and said again when a daemon comes back. See docs/job.md for whole examples.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import select
import socket
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Reduce = Callable[[int], int]  # the largest of what all ranks give, each an integer of at most 63 bits
    Found = tuple[int, dict[str, Path]]

SOCKET = "/run/supernoded/job.sock"
SHARED = "/dev/shm/supernoded"  # noqa: S108 - the folder of the settings' default, made by the daemon
ALIVE_S = 1.0  # seconds between two words that the process runs (ours)
ALIVE = b'{"t":"alive"}\n'
BEAT_S = 0.02  # steps that follow faster are told at the next beat (ours)
PAUSES = 0.1, 5.0  # seconds between two attempts to reach the daemon, first and longest (ours)
WELCOME_S = 1.0  # for the daemon to say where steps lie, once, where the environment does not (ours)
MOST_BYTES = 262_144  # waiting to be sent, or to become a line; with more the daemon hangs, and is dialled anew
MOST_STEP = 10**12 - 1  # 12 digits in a folder's name, and below 2**40
STEP_BITS, NUMBER_BITS = 40, 22  # of what ranks reduce; one bit more says stop
JOB = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=@-]{0,199}")
STEP = re.compile("step-[0-9]{12}")
MARKER = ".supernoded-vault"  # in the root of a durable tier that is mounted
PEER_MARKER = ".supernoded-peer"  # in the root of the folder in memory for parts of other nodes
DAMAGE = OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError  # what reading a damaged record may raise
OWN = frozenset({"rank.json", "sums.json"})


class Request(NamedTuple):
    """The daemon wants a checkpoint; `kind` "stop" = and then the end. Times on the scale of `time.monotonic`."""

    id: str
    number: int
    kind: str
    deadline: float = 0.0
    hard: float = 0.0
    reason: str = ""

    @property
    def stop(self) -> bool:
        """Whether the job is to end after this save."""
        return self.kind == "stop"


class Order(NamedTuple):
    """What a launcher is to do: `abort` the hanging collective, `remap` ranks to `cards`, `resume` from the newest step.

    `drop`, of a `remap`, are ranks that are given up, a whole replica: the others close up to WORLD_SIZE - len(drop) ranks in their order,
    and run by `plan`. `cards` are by the numbers of before.
    """

    id: str
    kind: str
    cards: dict[int, str]
    drop: tuple[int, ...] = ()
    plan: str = ""
    incarnation: int = 0  # start of the job that it is about, as the daemon counts them


class Line:
    """A connection that never waits: dialled with growing pauses, and every time `greet` says first all that counts."""

    def __init__(self, path: str, greet: Callable[[], bytes]) -> None:
        self._socket: socket.socket | None = None
        self._path, self._greet = path, greet
        self._out, self._in = b"", b""
        self._pause, self._dial_at = PAUSES[0], 0.0

    def send(self, message: bytes, *, spare: bool = False) -> None:
        """Say it. What is spare is left out when there is a queue; what is said without a daemon must be in the greeting too."""
        if self._socket is None:
            self._dial()
        elif not (spare and self._out):
            self._out += message
            self._flush()

    def receive(self) -> list[dict[str, Any]]:
        """What has come."""
        if self._socket is None:
            return []
        if self._out:
            self._flush()
        try:
            data = self._socket.recv(65_536) if self._socket is not None else b""
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        *lines, self._in = (self._in + data).split(b"\n")
        if not data or len(self._in) > MOST_BYTES:
            self.close()
        return [message for message in map(_parse, lines) if message]

    def wait(self, seconds: float) -> bool:
        """Wait until something has come, or so long; False at once when nobody is there."""
        if self._socket is None:
            self._dial()
        if self._socket is None:
            return False
        self._wait(select.POLLIN | (select.POLLOUT if self._out else 0), seconds)
        return True

    def settle(self) -> None:
        """The daemon has taken us in."""
        self._pause = PAUSES[0]

    def close(self) -> None:
        """Hang up. What was not sent is said by the next greeting."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._out, self._in = None, b"", b""

    def __del__(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def flush(self, seconds: float) -> None:
        """Wait at most so long until everything is sent."""
        end = time.monotonic() + seconds
        while self._socket is not None and self._out and time.monotonic() < end:
            self._wait(select.POLLOUT, end - time.monotonic())
            self._flush()

    def _dial(self) -> None:
        now = time.monotonic()
        if not self._path or now < self._dial_at:
            return
        self._dial_at, self._pause = now + self._pause, min(2 * self._pause, PAUSES[1])
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.setblocking(False)
        try:
            line.connect(self._path)
        except (OSError, ValueError):
            line.close()
            return
        self._socket, self._out = line, self._greet()
        self._flush()

    def _wait(self, events: int, seconds: float) -> None:
        poll = select.poll()  # select() has no room for a process with a thousand files
        if self._socket is not None:
            poll.register(self._socket, events)
        poll.poll(max(0.0, 1e3 * seconds))

    def _flush(self) -> None:
        try:
            if self._socket is not None:
                self._out = self._out[self._socket.send(self._out, socket.MSG_NOSIGNAL) :]
        except BlockingIOError:
            pass
        except OSError:
            self.close()
        if len(self._out) > MOST_BYTES:
            self.close()


class Job:
    """One rank of a training job. Made by `connect`. `trouble` = the last thing that did not work, in a sentence."""

    def __init__(self, hello: dict[str, Any], path: str, tiers: list[str], *, follow_fork: bool) -> None:
        self.trouble = ""
        self._hello, self._path, self._tiers, self._follow = hello, path, tiers, follow_fork
        card = {"v": 1, **{key: hello[key] for key in ("job", "rank", "world", "local")}, "run": _find_run()}
        self._card = json.dumps(card)[:-1]  # of every `rank.json` the part that stays
        self._pid, self._lock = os.getpid(), threading.RLock()
        self._line = Line(path, self._greet)
        self._said: dict[str, bytes] = {}  # what the daemon must know, said again whenever it comes back
        self._beat_at, self._step, self._due = 0.0, -1, 0
        self._done: set[int] = set()  # numbers of requests that were agreed on
        self._request: Request | None = None
        self._watched, self._ended = False, threading.Event()
        ours = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _part(ours()))

    def beat(self, step: int) -> Request | None:
        """A step is done. Gives what the daemon asks for, until the ranks have agreed on it or it is withdrawn."""
        if os.getpid() != self._pid:
            self.part()
        with self._lock:
            try:
                self._step = step = min(max(-1, int(step)), MOST_STEP)
            except (TypeError, ValueError, OverflowError):
                self.trouble = f"beat({step!r}): a step is a whole number"
                return self._request
            if not self._watched:
                self._watch()
            now = time.monotonic()
            if now >= self._beat_at:
                self._beat_at = now + BEAT_S
                self._line.send(b'{"t":"beat","step":%d}\n' % step, spare=True)
            for message in self._line.receive():
                self._hear(message)
            return self._request

    @contextlib.contextmanager
    def phase(self, name: str, expect_s: float) -> Iterator[None]:
        """Say that the job does something beside steps, such as an evaluation, for about so long."""
        outer = self._said.get("phase")
        self._tell("phase", t="phase", name=name[:200], expect_s=min(max(0.0, expect_s), 1e9))
        try:
            yield
        finally:
            self._say("phase", outer or _encode({"t": "phase", "name": ""}))
            if not outer:
                self._said.pop("phase", None)

    def agree(self, request: Request | None, step: int, all_reduce_max: Reduce | None = None) -> Request | None:
        """After every step, on all ranks alike: the request for which this step is to be saved now, also where only another rank knew.

        What `all_reduce_max` raises passes through. One rank alone needs none.
        """
        mine = self._due or (step if request is None else (request.stop << NUMBER_BITS | request.number) << STEP_BITS | step)
        code = mine if all_reduce_max is None else int(all_reduce_max(mine))
        number, at = code >> STEP_BITS & (1 << NUMBER_BITS) - 1, code & (1 << STEP_BITS) - 1
        if not number or number in self._done:
            return None
        self._due = code if at > step else 0
        if self._due:  # ranks that count differently save when all are there
            return None
        if request is None or request.number != number:
            request = Request("", number, "stop" if code >> STEP_BITS + NUMBER_BITS else "checkpoint")
        with self._lock:
            self._done.add(number)
            self._request = None
        self._tell("agreed", t="agreed", request=request.id, number=number, step=step)
        return request

    def save(self, step: int, parts: Mapping[str, Any]) -> bool:
        """Write parts (bytes-like, or a function that writes to the file it is given) to shared memory; whether all are there.

        What a function raises passes through, but for an OSError.
        """
        try:
            self._save(step, parts)
        except OSError as error:
            self.trouble = f"step {step} is not saved: {error}"
            return False
        return True

    @contextlib.contextmanager
    def saving(self, step: int) -> Iterator[Path]:
        """A folder to write this rank's parts into; they are whole when the block ends, and gone when it raises. Raises OSError."""
        began = self._begin(step)
        try:
            draft = self._open_draft(step)
            yield Path(draft)
            sizes = {entry.name: entry.stat().st_size for entry in os.scandir(draft)}
            for name in sizes:
                _check_name(name)
            self._end(step, draft, sizes, began)
        except BaseException as error:
            self._fail(step, error)
            raise

    def _save(self, step: int, parts: Mapping[str, Any]) -> None:
        """As `saving` does it, without a look at what was written: for a small save that look would be a good part of the time."""
        began, sizes = self._begin(step), {}
        try:
            draft = self._open_draft(step)
            _check_room(draft, sum(memoryview(part).nbytes for part in parts.values() if not callable(part)))
            for name, part in parts.items():
                _check_name(name)
                sizes[name] = _write(f"{draft}/{name}", part)
            self._end(step, draft, sizes, began)
        except BaseException as error:
            self._fail(step, error)
            raise

    def _begin(self, step: int) -> tuple[float, float]:
        """The job stands still from now on: monotonic and Unix seconds. Raises OSError for what is no step."""
        if not 0 <= step <= MOST_STEP:
            raise OSError(errno.EINVAL, f"a step is a whole number from 0 to {MOST_STEP}", str(step))
        self._say("save", b'{"t":"saving","step":%d}\n' % step)
        return time.monotonic(), time.time()

    def _open_draft(self, step: int) -> str:
        draft = f"{self._place(step)}.tmp"
        _make(draft)
        return draft

    def _end(self, step: int, draft: str, sizes: dict[str, int], began: tuple[float, float]) -> None:
        files = ", ".join([f'"{name}": {size}' for name, size in sizes.items()])  # names have nothing in them to escape
        _seal(draft, draft[:-4], f'{self._card}, "step": {step:d}, "taken": {began[1]}, "files": {{{files}}}}}')
        told = sum(sizes.values()), time.monotonic() - began[0]
        self._say("save", b'{"t":"saved","step":%d,"size":%d,"seconds":%.6f}\n' % (step, *told))

    def _fail(self, step: int, error: BaseException) -> None:
        with contextlib.suppress(OSError):
            _clear(f"{self._place(step)}.tmp")
        self._tell("save", t="save_failed", step=step, why=f"{type(error).__name__}: {error}"[:500])

    def restore(self, all_reduce_max: Reduce | None = None) -> Found | None:
        """The newest whole step and this rank's parts of it, from the nearest tier; None when there is none.

        With `all_reduce_max` all ranks find the same. What was passed over is in `trouble`, such as a step that lies packed.
        """
        bound, end = MOST_STEP, time.monotonic() + WELCOME_S
        with self._lock:
            while not self._tiers and self._line.wait(end - time.monotonic()) and time.monotonic() < end:
                for message in self._line.receive():
                    self._hear(message)
        while True:
            found = self._look(bound)
            if all_reduce_max is None:
                return found
            mine = found[0] if found else -1
            low, high = -int(all_reduce_max(-mine)), int(all_reduce_max(mine))
            if low == high:
                return found
            bound = low

    def stopped(self, step: int | None = None) -> None:
        """The rank ends in order, after `step`; waits at most half a second until that is said."""
        self._ended.set()
        self._tell("bye", t="bye", step=self._step if step is None else step)
        with self._lock:
            self._line.flush(0.5)
            self._line.close()
            self._line = Line("", self._greet)

    def launcher(self) -> Launcher:
        """For what starts and restarts the ranks: waits for orders."""
        return Launcher({**self._hello, "kind": "launcher", "rank": -1}, self._path)

    def part(self) -> None:
        """We are a fork: leave the connection to the parent, and dial our own only where `follow_fork` says that this is the rank now."""
        self._pid, self._lock = os.getpid(), threading.RLock()
        self._line.close()
        self._line = Line(self._path if self._follow else "", self._greet)
        self._watched, self._ended = not self._follow, threading.Event()  # no thread comes along

    def live(self) -> None:
        """The process runs, whatever its step does; a daemon that was away is dialled."""
        with self._lock:
            self._line.send(ALIVE, spare=True)

    def _watch(self) -> None:
        """From the first beat on a thread says once a second that the process runs: a step may hang for long."""
        self._watched = True
        with contextlib.suppress(RuntimeError):  # no thread can be had any more; the job goes on without
            threading.Thread(target=_live, args=(weakref.ref(self), self._ended), name="supernoded: alive", daemon=True).start()

    def _greet(self) -> bytes:
        return b"".join([_encode({**self._hello, "step": self._step}), *self._said.values()])

    def _tell(self, topic: str, **message: object) -> None:
        self._say(topic, _encode(message))

    def _say(self, topic: str, message: bytes) -> None:
        if os.getpid() != self._pid:
            self.part()
        with self._lock:
            self._said.pop(topic, None)  # to the end: they are said again in this order
            self._said[topic] = message
            self._line.send(message)

    def _hear(self, message: dict[str, Any]) -> None:
        try:
            self._take(message.get("t"), message)
        except (KeyError, TypeError, ValueError) as error:
            self.trouble = f"the daemon said what this client does not understand: {error!r}"

    def _take(self, kind: object, message: dict[str, Any]) -> None:
        if kind == "welcome":
            self._line.settle()
            self._tiers = self._tiers or [str(tier) for tier in message.get("tiers", ())]
        elif kind == "refused":
            self.trouble = f"the daemon refuses this rank: {message['why']}"
        elif kind == "request" and int(message["number"]) not in self._done:
            if self._request is not None and self._request.stop and message["kind"] != "stop":
                return  # the stop saves too
            now, number = time.monotonic(), int(message["number"])
            times = now + float(message["deadline_s"]), now + float(message["hard_s"])
            self._request = Request(str(message["id"]), number, str(message["kind"]), *times, str(message.get("reason", "")))
        elif kind == "withdraw" and self._request is not None and self._request.id == message["id"]:
            self._request = None

    def _place(self, step: int) -> str:
        """Where this rank's part of a step lies. Raises FileNotFoundError where nobody has made room for any."""
        shared = (self._tiers or [SHARED])[0]
        if not self._tiers and not os.path.isdir(shared):
            raise FileNotFoundError(errno.ENOENT, "no daemon has made it, and SUPERNODED_VAULT names no other", shared)
        return f"{shared}/{self._hello['job']}/step-{step:012d}/rank-{self._hello['rank']:05d}"

    def _look(self, bound: int) -> Found | None:
        """The newest whole step that can be read here, and this rank's parts of it from the nearest tier."""
        steps: dict[int, list[tuple[Path, bool]]] = {}
        for near, tier in enumerate(map(Path, self._tiers or [SHARED])):
            durable = near > 0 and not (tier / PEER_MARKER).is_file()
            if durable and not (tier / MARKER).is_file():
                self.trouble = f"{tier} has no {MARKER}: it is not mounted, or no durable tier"
                continue
            for number, folder in _list_steps(tier / str(self._hello["job"])):
                if number <= bound:
                    steps.setdefault(number, []).append((folder, durable))
        for number in sorted(steps, reverse=True):
            parts = _choose(steps[number], int(self._hello["rank"]))
            if parts:
                return number, parts
            self.trouble = f"step {number} is passed over: it is not whole, damaged, or packed (supernoded-vault restore unpacks it)"
        return None


class Launcher:
    """What starts and restarts the ranks. It has nothing to train, and so it may wait. Close it in the end."""

    def __init__(self, hello: dict[str, Any], path: str) -> None:
        self._hello = hello
        self._told: dict[str, bytes] = {}  # answers, by order
        self._line = Line(path, lambda: b"".join([_encode(self._hello), *self._told.values()]))

    def wait(self, seconds: float) -> Order | None:
        """The next order, or None after so long. One that was acted on already is answered again by itself."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if not self._line.wait(left):
                time.sleep(max(0.0, min(left, PAUSES[0])))
            for message in self._line.receive():
                if message.get("t") == "welcome":
                    self._line.settle()
                if message.get("t") == "order" and str(message.get("id")) in self._told:
                    self._line.send(self._told[str(message["id"])])
                elif message.get("t") == "order":
                    return _read_order(message)
            if left <= 0:
                return None

    def acted(self, order: Order, why: str = "") -> None:
        """It is done, or could not be done, and why."""
        if order.plan and not why:
            self._hello["plan"] = order.plan
        self._told[order.id] = _encode({"t": "acted", "order": order.id, "ok": not why, "why": why})
        self._line.send(self._told[order.id])
        self._line.flush(0.5)

    def close(self) -> None:
        """Hang up."""
        self._line.close()


def connect(
    name: str,
    rank: int | None = None,
    *,
    world: int | None = None,
    card: str = "",
    token: str | None = None,
    path: str | None = None,
    follow_fork: bool = False,
) -> Job:
    """This process as a rank of the job `name`. What is not given is found in the environment, as torchrun and others set it.

    RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE; SUPERNODED_PLAN (`tp=8 pp=16 dp=4 ep=1`), else TP_SIZE, PP_SIZE, DP_SIZE and EP_SIZE;
    SUPERNODED_JOB_SOCKET, SUPERNODED_JOB_TOKEN; SUPERNODED_VAULT, the folder to save to, with those to restore from after it and ":"
    between. The daemon is dialled when there is something to say. Raises ValueError for a name that cannot be a folder's.
    """
    if not JOB.fullmatch(name):
        raise ValueError(f"job {name!r}: a name has 1 to 128 letters, digits and _.-")
    hello = {
        "t": "hello",
        "v": 1,
        "kind": "rank",
        "job": name,
        "rank": _number("RANK", 0) if rank is None else rank,
        "local_rank": _number("LOCAL_RANK", -1),
        "world": _number("WORLD_SIZE", 1) if world is None else world,
        "local": _number("LOCAL_WORLD_SIZE", 0),
        "card": card,
        "plan": _find_plan(),
        "life": f"{os.getpid()}.{time.time_ns():x}",
        "token": os.environ.get("SUPERNODED_JOB_TOKEN", "") if token is None else token,
    }
    tiers = [tier for tier in os.environ.get("SUPERNODED_VAULT", "").split(os.pathsep) if tier]
    return Job(hello, path or os.environ.get("SUPERNODED_JOB_SOCKET") or SOCKET, tiers, follow_fork=follow_fork)


def _number(variable: str, default: int) -> int:
    try:
        return int(os.environ.get(variable) or default)
    except ValueError:
        return default


def _part(job: Job | None) -> None:
    if job is not None:
        job.part()


def _live(ours: weakref.ref[Job], ended: threading.Event) -> None:
    while not ended.wait(ALIVE_S):
        job = ours()
        if job is None:
            return
        job.live()
        del job


def _find_plan() -> str:
    """How the ranks are grouped, where the environment says."""
    sizes = {name: os.environ.get(f"{name.upper()}_SIZE", "") for name in ("tp", "pp", "dp", "ep")}
    known = " ".join(f"{name}={size}" for name, size in sizes.items() if size)
    return (os.environ.get("SUPERNODED_PLAN") or (known if sizes["tp"] and sizes["pp"] and sizes["dp"] else ""))[:200]


def _find_run() -> str:
    """Which start of the job this is: parts of two starts make no step."""
    run = os.environ.get("SUPERNODED_JOB_RUN") or os.environ.get("TORCHELASTIC_RUN_ID", "")
    return f"{run}.{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}" if run else ""


def _encode(message: Mapping[str, object]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _parse(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _read_order(message: Mapping[str, Any]) -> Order:
    drop, incarnation = message.get("drop"), message.get("incarnation")
    return Order(
        str(message.get("id")),
        str(message.get("kind")),
        _read_cards(message.get("cards")),
        tuple(rank for rank in drop if isinstance(rank, int)) if isinstance(drop, list) else (),
        str(message.get("plan", "")),
        incarnation if isinstance(incarnation, int) else 0,
    )


def _read_cards(found: object) -> dict[int, str]:
    cards = found if isinstance(found, dict) else {}
    return {int(rank): str(card) for rank, card in cards.items() if str(rank).isdigit()}


def _check_room(draft: str, size: int) -> None:
    """Said before the first byte is written rather than after the last."""
    shared = draft.rsplit("/", 3)[0]
    disk = os.statvfs(shared)
    left, why = disk.f_bavail * disk.f_frsize, "are free"
    with contextlib.suppress(*DAMAGE):  # without a vault there is no such file
        room = json.loads(_read_at_once(f"{shared}/room.json"))
        if int(room["room"]) < left:
            left, why = int(room["room"]), f"the vault leaves: {room.get('text', '')}"
    if size > left:
        raise OSError(errno.ENOSPC, f"{size} bytes do not fit into the {left} that {why}", draft)


def _check_name(name: str) -> None:
    if not PART.fullmatch(name) or name in OWN or name.endswith((".tmp", ".zst")):
        raise OSError(
            errno.EINVAL, "is no name of a part: 1 to 200 letters, digits and _.+=@-, not rank.json, sums.json, .tmp or .zst", name
        )


def _write(path: str, part: Any) -> int:
    """One part; its bytes."""
    if callable(part):
        with open(path, "wb", 1 << 20) as file:
            part(file)
            file.flush()
            return os.fstat(file.fileno()).st_size
    view = memoryview(part)
    return _write_at_once(path, memoryview(view.tobytes()) if not view.c_contiguous or not view.nbytes else view.cast("B"))  # no copy


def _write_at_once(path: str, data: memoryview) -> int:
    """A new file by three calls of the system, as the job stands still meanwhile; its bytes."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        rest = data
        while rest:
            rest = rest[os.write(number, rest) :]
    finally:
        os.close(number)
    return len(data)


def _read_at_once(path: str) -> bytes:
    """A small file."""
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(number, 65_536)
    finally:
        os.close(number)


def _seal(draft: str, home: str, card: str) -> None:
    """The parts become whole, in one rename."""
    _write_at_once(f"{draft}/rank.json", memoryview(card.encode()))
    try:
        os.rename(draft, home)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
        old = f"{home}.old.tmp"  # the same step, saved before the job was set back
        _clear(old)
        os.rename(home, old)
        os.rename(draft, home)
        _clear(old)


def _make(draft: str) -> None:
    """An empty folder, where there may be an old draft, or no folder above it yet."""
    step = draft.rpartition("/")[0]
    try:
        os.mkdir(step)
    except FileExistsError:
        _clear(draft)
    except FileNotFoundError:
        os.makedirs(step, exist_ok=True)
    os.mkdir(draft)


def _clear(folder: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            os.unlink(entry.path)
        os.rmdir(folder)


def _list_steps(tier: Path) -> Iterator[tuple[int, Path]]:
    folders = tier.iterdir() if tier.is_dir() else ()
    return ((int(folder.name[5:]), folder) for folder in folders if STEP.fullmatch(folder.name))


def _choose(folders: list[tuple[Path, bool]], rank: int) -> dict[str, Path] | None:
    """A rank's parts of a step out of one start of the job, of which all are there that this node had; None when there are none."""
    starts: dict[tuple[int, str], list[tuple[Path, dict[str, Any]]]] = {}
    whole: dict[tuple[int, str], float] = {}  # starts of which all parts are durable, and when the last was saved
    for folder, durable in folders:
        manifest = _read_whole(folder) if durable else None
        if manifest is not None:
            whole[manifest["world"], manifest["run"]] = manifest["taken"]
        for home in [folder / f"rank-{rank:05d}"] if durable else sorted(folder.glob("rank-?????")):
            card = _read_card(home)
            if card and (not durable or (manifest is not None and _is_listed(home, manifest["parts"]))):
                starts.setdefault((card["world"], card["run"]), []).append((home, card))
    newest_first = sorted(starts, key=lambda start: -max(whole.get(start, 0.0), *(card["taken"] for _, card in starts[start])))
    for start in newest_first:
        mine = [(home, card) for home, card in starts[start] if card["rank"] == rank]
        there = len({card["rank"] for _, card in starts[start]})
        if mine and (start in whole or there >= (mine[0][1]["local"] or mine[0][1]["world"])):
            for home, card in mine:
                if _holds(home):
                    return {name: home / name for name in card["files"]}
    return None


def _read_card(home: Path) -> dict[str, Any] | None:
    """`rank.json`, when every part is there and as long as it says."""
    try:
        found = json.loads((home / "rank.json").read_text())
        files = {str(name): int(size) for name, size in found["files"].items()}
        if f"rank-{found['rank']:05d}" != home.name or any((home / name).stat().st_size != size for name, size in files.items()):
            return None
        numbers = {"rank": int(found["rank"]), "world": int(found["world"]), "local": int(found.get("local", 0))}
        return {**numbers, "files": files, "run": str(found.get("run", "")), "taken": float(found["taken"])}
    except DAMAGE:
        return None  # an older step is the answer to whatever is wrong with this one


def _read_whole(folder: Path) -> dict[str, Any] | None:
    """`whole.json` of a step, when it names every rank."""
    try:
        found = json.loads((folder / "whole.json").read_text())
        world, parts = int(found["world"]), {int(rank): str(digest) for rank, digest in found["parts"].items()}
        if int(found["step"]) != int(folder.name[5:]) or not world or set(parts) != set(range(world)):
            return None
        return {"world": world, "run": str(found["run"]), "taken": float(found["taken"]), "parts": parts}
    except DAMAGE:
        return None


def _is_listed(home: Path, parts: Mapping[int, str]) -> bool:
    """Whether the step's manifest names this very part."""
    try:
        return parts.get(int(home.name[5:])) == _hash(home / "sums.json")
    except DAMAGE:
        return False


def _holds(home: Path) -> bool:
    """Whether the parts have the hashes that the vault has left, where it has left any."""
    try:
        sums = json.loads((home / "sums.json").read_text())["files"]
        return all(_hash(home / name) == one["sha256"] for name, one in sums.items())
    except FileNotFoundError:
        return True
    except DAMAGE:
        return False


def _hash(path: Path) -> str:
    import hashlib  # noqa: PLC0415 - its ciphers take a tenth of what importing this file costs, and only a restore needs them

    digest = hashlib.sha256()
    with path.open("rb") as file:
        for data in iter(lambda: file.read(1 << 20), b""):
            digest.update(data)
    return digest.hexdigest()
