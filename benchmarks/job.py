"""What a training script pays for its client: the import, a beat, and how long it stands still to save.

Each figure stands beside the least that could do the same, in turns with it on the same machine: an import of an empty module, one bare
`send` on a unix socket with somebody reading at the other end, and a plain write of the same bytes to shared memory. Beats are measured
with every one of them sent; a script whose steps are quicker than 20 ms sends fewer. The budgets are of design section 14 and of the
client's own contract.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measuring import Row, make_parser, make_row, scratch, show
from supernoded.job import client

MOST_IMPORT_MS = 30.0
MOST_BEAT_US = 20.0
MOST_STALL = 1.2
IMPORTS = 15
BEATS = 20_000
SAVES = 12
SIZES = (1 << 20, 64 << 20, 256 << 20)  # bytes
TIMED = "import time; began = time.process_time(); import {module}; print(time.process_time() - began)"


def main() -> None:
    """Measure and print."""
    parser = make_parser(__doc__)
    options = parser.parse_args()
    with scratch() as folder:
        rows = [*measure_import(folder), *measure_beats(folder), *measure_saves()]
    show(rows, as_json=options.json)


def measure_import(folder: Path) -> Iterator[Row]:
    """In fresh interpreters, with byte code as an installed package has it; processor time, so that neighbours do not count."""
    shutil.copy(str(client.__file__), folder / "client.py")
    (folder / "empty.py").write_text("")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def import_one(module: str) -> float:
        arguments = [sys.executable, "-c", TIMED.format(module=module)]
        ran = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
        return float(ran.stdout)

    for module in ("client", "empty"):
        import_one(module)  # writes the byte code
    ours, bare = take_turns(lambda: import_one("client"), lambda: import_one("empty"), IMPORTS)
    yield make_row("import of the client", ours * 1e3, "ms", MOST_IMPORT_MS)
    yield make_row("import of an empty module", bare * 1e3, "ms")
    yield make_row("import, ratio", ours / bare, "1", note="the rest is the standard library's: json, re, socket, pathlib, typing")


def measure_beats(folder: Path) -> Iterator[Row]:
    """With a reader at the other end, and with nobody there."""
    client.BEAT_S = 0.0
    with reader(folder / "job.sock") as path, socket.socket(socket.AF_UNIX) as line:
        line.connect(str(path))
        line.setblocking(False)
        job, alone = client.connect("bench", 0, path=str(path)), client.connect("bench", 0, path=str(folder / "none"))
        job.beat(0)
        step = iter(range(1, 10 * BEATS))

        def send() -> None:
            try:
                line.send(b'{"t":"beat","step":1234}\n')
            except BlockingIOError:
                time.sleep(0.001)  # the reader is behind; this one is not counted as quick

        ours, bare = take_turns(timed(lambda: job.beat(next(step))), timed(send), BEATS)
        yield make_row("beat, every one sent", ours * 1e6, "us", MOST_BEAT_US)
        yield make_row("bare send", bare * 1e6, "us")
        yield make_row("beat, ratio", ours / bare, "1", note="a beat also looks whether a request has come")
        lone, _ = take_turns(timed(lambda: alone.beat(1)), timed(lambda: None), BEATS)
        yield make_row("beat without a daemon", lone * 1e6, "us", MOST_BEAT_US)
        job.stopped()


def measure_saves() -> Iterator[Row]:
    """From a step's end to the rename, against one plain write; both into pages that the kernel has to find first."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="bench-") as name:
        shared = Path(name)
        os.environ["SUPERNODED_VAULT"] = name
        job = client.connect("bench", 0, path=str(shared / "none"))
        for size in SIZES:
            data = memoryview(os.urandom(1 << 20) * (size >> 20))

            def save(data: memoryview = data) -> None:
                if not job.save(1, {"state": data}):
                    raise SystemExit(job.trouble)

            def write(data: memoryview = data) -> None:
                (shared / "plain").write_bytes(data)

            ours: list[float] = []
            bare: list[float] = []
            for turn in range(2 * SAVES):  # two and two change places, so that neither always comes after the other
                if turn % 4 in {0, 3}:
                    for step in (shared / "bench").glob("step-*"):  # the job's own folder stays, as it does in training
                        shutil.rmtree(step)
                    ours.append(timed(save)())
                else:
                    (shared / "plain").unlink(missing_ok=True)
                    bare.append(timed(write)())
            ratio = statistics.median(ours) / statistics.median(bare)
            note = f"{statistics.median(ours) * 1e3:.2f} ms against {statistics.median(bare) * 1e3:.2f}"
            yield make_row(f"stall of save(), {size >> 20} MiB, ratio", ratio, "1", MOST_STALL, note)


def take_turns(one: Callable[[], float], other: Callable[[], float], times: int) -> tuple[float, float]:
    """The medians of both, done in turns."""
    pairs = [(one(), other()) for _ in range(times)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """The same, telling how many seconds it took."""

    def run() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return run


@contextmanager
def reader(path: Path) -> Iterator[Path]:
    """A process that reads what is sent to a socket and says nothing, as a daemon does most of the time."""
    child = os.fork()
    if not child:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        while True:
            line, _ = listener.accept()
            threading.Thread(target=drain, args=(line,), daemon=True).start()
    while not path.exists():
        time.sleep(0.01)
    try:
        yield path
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def drain(line: socket.socket) -> None:
    """Read to the end."""
    while line.recv(65_536):
        pass


if __name__ == "__main__":
    main()
