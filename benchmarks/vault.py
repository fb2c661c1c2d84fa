"""What a checkpoint costs: the stall of a rank's save, how fast it becomes durable, and what zstd gives for what (C12).

Each side is measured in turns within one run. The save is the client's against a plain write of the same bytes to shared memory. The
flush is the vault's (hash, copy, sync, read back, hash, rename, manifest) against a plain copy with one sync. Weights are normal numbers of
32 bits.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from benchmarks.measuring import Row, make_parser, make_row, show
from supernoded.clock import SystemClock
from supernoded.job.client import connect
from supernoded.job.vault.catalogue import Tier
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import MARKER
from supernoded.job.vault.rounds import Rounds
from supernoded.job.vault.storing import Storing

MIB = 1 << 20
SIZES = (1, 16, 256, 1024, 4096)  # MiB
COPIES = 4  # of one size in memory at once: the weights, the client's and the plain file, and room for what else is at work
MOST_STALL = 1.2  # of the plain write
JOB = "bench"
CHUNK = 4 * MIB


class Bench:
    """Two folders and a job that saves into the one."""

    def __init__(self, memory: Path, disk: Path) -> None:
        self.shared, self.disk, self.plain = memory / "shared", disk, memory / "plain"
        self.shared.mkdir()
        os.environ["SUPERNODED_VAULT"] = str(self.shared)
        self.job = connect(JOB, 0, world=1, path="/nowhere/job.sock")
        self.step = 0

    def save(self, weights: memoryview) -> None:
        """One save by the client."""
        self.step += 1
        if not self.job.save(self.step, {"weights.bin": weights}):
            raise SystemExit(f"the client could not save: {self.job.trouble}")

    def write(self, weights: memoryview) -> None:
        """The same bytes, and nothing else."""
        with self.plain.open("wb", 0) as file:
            rest = weights
            while rest:
                rest = rest[file.write(rest) :]

    def forget(self) -> None:
        """Memory is given back, so that each side begins alike."""
        for step in (self.shared / JOB).glob("step-*"):
            shutil.rmtree(step)
        self.plain.unlink(missing_ok=True)

    def flush(self, level: int | None) -> SystemFiles:
        """One round of a vault over what is in shared memory."""
        root = Path(tempfile.mkdtemp(dir=self.disk))
        (root / MARKER).touch()
        files, clock = SystemFiles(), SystemClock()
        pen = Pen(node="n0", pid=os.getpid(), level=level, headroom=0)
        shared, durable = Tier(name="shared", root=self.shared, committed=False), Tier(name="durable", root=root, committed=True)
        storing = Storing(files, self.shared, durable, pen, 2, 0, clock)
        outcome = Rounds(files, shared, storing, durable, pen, 1 << 50, 60.0, 1e9, clock).run()
        if JOB not in outcome.wholes:
            raise SystemExit(f"the vault could not flush: {outcome.troubles}")
        self.packed = storing.packed
        shutil.rmtree(root)
        return files

    def copy(self) -> None:
        """A plain copy to the disk with one sync."""
        target = self.disk / "plain"
        with self.plain.open("rb", 0) as reader, target.open("wb", 0) as writer:
            while chunk := reader.read(CHUNK):
                writer.write(chunk)
            os.fsync(writer.fileno())
        target.unlink()


def clock(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def make_weights(size: int) -> memoryview:
    """So many bytes of normal numbers."""
    return memoryview(np.random.default_rng(1).standard_normal(size // 4, dtype=np.float32).data).cast("B")


def measure_save(bench: Bench, weights: memoryview, times: int) -> list[Row]:
    """The stall of both sides in turns; the median of the ratios is judged."""
    ours, plain = [], []
    for turn in range(times):
        for side in ("ours", "plain") if turn % 2 else ("plain", "ours"):
            bench.forget()
            if side == "ours":
                ours.append(clock(lambda: bench.save(weights)))
            else:
                plain.append(clock(lambda: bench.write(weights)))
    size = len(weights)
    stall, ratio = statistics.median(ours), statistics.median(a / b for a, b in zip(ours, plain, strict=True))
    name = f"save {size // MIB} MiB"
    return [
        make_row(f"{name}: stall", stall * 1e3, "ms", note=f"{size / stall / 1e9:.2f} GB/s; plain {statistics.median(plain) * 1e3:.3f} ms"),
        make_row(f"{name}: against a plain write", ratio, "1", MOST_STALL, note=f"{times} of each in turns"),
    ]


def measure_flush(bench: Bench, weights: memoryview, times: int) -> list[Row]:
    """The vault's flush against a plain copy, both from shared memory to the same disk."""
    bench.forget()
    bench.save(weights)
    bench.write(weights)
    ours, plain = [], []
    for _ in range(times):
        plain.append(clock(bench.copy))
        ours.append(clock(lambda: bench.flush(None)))
        (seal,) = (bench.shared / JOB).rglob("sums.json")
        seal.unlink()
    size, taken = len(weights), statistics.median(ours)
    ratio = statistics.median(a / b for a, b in zip(ours, plain, strict=True))
    note = f"{size / taken / 1e9:.2f} GB/s; plain copy and sync {size / statistics.median(plain) / 1e9:.2f}"
    name = f"flush {size // MIB} MiB"
    return [make_row(name, taken * 1e3, "ms", note=note), make_row(f"{name}: against a plain copy", ratio, "1", note="hashed, read back")]


def measure_packing(bench: Bench, weights: memoryview, name: str) -> list[Row]:
    """What zstd gives, and what it takes of the machine while it works. The documents say 3.2 at less than 15 % (C12)."""
    bench.forget()
    bench.save(weights)
    files = bench.flush(3)
    before, after = bench.packed
    share = 100 * files.cpu_s / files.copy_s
    return [
        make_row(f"zstd of {name}: ratio", before / after, "1", note="3.2 by the documents, which doubt nothing (C12)"),
        make_row(
            f"zstd of {name}: of one core", share, "%", note=f"{share / (os.cpu_count() or 1):.0f} % of the machine; 15 % by the documents"
        ),
    ]


@contextmanager
def folders(memory: Path, disk: Path | None) -> Iterator[Bench]:
    """Two folders that go away again."""
    with tempfile.TemporaryDirectory(dir=memory, prefix="bench-") as near, tempfile.TemporaryDirectory(dir=disk, prefix="bench-") as far:
        yield Bench(Path(near), Path(far))


def find_most(memory: Path, disk: Path | None) -> int:
    """MiB of one checkpoint that fit into memory, shared memory and the disk, with what else is in them."""
    free = min(shutil.disk_usage(memory).free, psutil.virtual_memory().available) // COPIES
    return int(min(free, shutil.disk_usage(disk or tempfile.gettempdir()).free // 3) // MIB)


def main() -> int:
    """Measure; 1 when a budget is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--most", type=int, metavar="MIB", help="largest checkpoint (default: what fits, at most 4096)")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="shared memory (default %(default)s)")  # noqa: S108
    parser.add_argument("--disk", type=Path, help="where the durable tier is made (default: the system's folder for temporary files)")
    asked = parser.parse_args()
    fits = find_most(asked.memory, asked.disk)
    most = min(asked.most or SIZES[-1], fits)
    rows: list[Row] = []
    with folders(asked.memory, asked.disk) as bench:
        for mib in [size for size in SIZES if size <= most]:
            weights = make_weights(mib * MIB)
            times = 41 if mib <= 16 else 9 if mib <= 256 else 3
            rows += measure_save(bench, weights, times)
            rows += measure_flush(bench, weights, min(times, 5))
            del weights
        small = min(64, most) * MIB
        rows += measure_packing(bench, make_weights(small), "normal numbers")
        rows += measure_packing(bench, memoryview(bytes(small)), "zeros, such as a fresh optimizer")
    show(rows, as_json=asked.json)
    if most < min(asked.most or SIZES[-1], SIZES[-1]):
        sys.stderr.write(f"sizes above {most} MiB are left out: they do not fit into memory here\n")
    return 0 if all(row["within"] is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
