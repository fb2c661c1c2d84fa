"""One rank of a training with parallel data, as anybody might write it: a NumPy network, gradients over sockets, and the daemon's client.

    SUPERNODED_JOB_SOCKET=... SUPERNODED_VAULT=... RANK=0 WORLD_SIZE=4 TRAIN_MEET=... python train.py --steps 1000 --every 100

It prints `step <n> loss <hexadecimal>` from rank 0, and from every rank where it begins and ends. `launch.py` starts all ranks.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from supernoded.job.client import Job, connect

Vector = NDArray[np.float64]

PATIENCE = 60.0  # seconds for all ranks to come
LOOK = 0.01  # seconds between two tries to reach rank 0
HIDDEN, POINTS = 512, 256
RATE, MOMENTUM = 0.02, 0.9


class Collective:
    """The ranks of one start, which meet at a unix socket. Raises OSError in all of them when one is gone.

    Rank 0 adds, in the order of the ranks, so that sums are the same to the last bit.
    """

    def __init__(self, meet: Path, rank: int, world: int) -> None:
        self._lines = _gather(meet, world) if rank == 0 else []
        self._centre = _reach(meet, rank) if rank else None

    def add(self, mine: Vector) -> Vector:
        """The sum over all ranks."""
        data = self._exchange(mine.tobytes(), lambda datas: reduce(np.add, map(np.frombuffer, datas)).tobytes())
        return np.frombuffer(data)

    def find_most(self, mine: int) -> int:
        """The largest of all ranks."""
        return _unpack(self._exchange(_pack(mine), lambda datas: _pack(max(map(_unpack, datas)))))

    def _exchange(self, mine: bytes, join: Callable[[list[bytes]], bytes]) -> bytes:
        if self._centre is not None:
            self._centre.sendall(mine)
            return _receive(self._centre, len(mine))
        joined = join([mine, *(_receive(line, len(mine)) for line in self._lines)])
        for line in self._lines:
            line.sendall(joined)
        return joined


def _gather(meet: Path, world: int) -> list[socket.socket]:
    """The lines of all other ranks, in their order."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(meet))
        door.listen(world)
        door.settimeout(PATIENCE)
        lines = [door.accept()[0] for _ in range(world - 1)]
    ranks = {_unpack(_receive(line, 8)): line for line in lines}
    return [ranks[rank] for rank in range(1, world)]


def _reach(meet: Path, rank: int) -> socket.socket:
    line, end = socket.socket(socket.AF_UNIX), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):  # rank 0 is not there yet
            line.connect(str(meet))
            line.sendall(_pack(rank))
            return line
        time.sleep(LOOK)
    raise TimeoutError(f"rank 0 is not at {meet} after {PATIENCE:g} s")


def _receive(line: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = line.recv(size - len(data))
        if not piece:
            raise ConnectionResetError("a rank is gone")
        data += piece
    return bytes(data)


def _pack(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _unpack(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


class Model:
    """A small network that learns a curve by gradients with momentum; all ranks have the same."""

    def __init__(self, data: bytes = b"") -> None:
        first = np.random.default_rng(1).normal(size=3 * HIDDEN) / 4
        state = np.frombuffer(data).reshape(2, -1) if data else np.stack([first, np.zeros_like(first)])
        self._weights, self._momentum = state.copy()

    def write(self, file: IO[bytes]) -> None:
        """What a later start begins with."""
        file.write(self._weights.tobytes())
        file.write(self._momentum.tobytes())

    def look(self, step: int, rank: int, world: int) -> Vector:
        """This rank's share of the gradient, and after it of the loss: on its points of the batch of this step."""
        x = np.random.default_rng(step).uniform(-1, 1, POINTS)[rank::world]
        into, bias, out = self._weights.reshape(3, -1)
        hidden = np.tanh(np.outer(x, into) + bias)
        miss = hidden @ out - np.sin(3 * x)
        back = np.outer(miss, out) * (1 - hidden**2)
        return np.concatenate([x @ back, back.sum(axis=0), miss @ hidden, [miss @ miss]]) / POINTS

    def learn(self, gradient: Vector) -> None:
        """One step down."""
        self._momentum = MOMENTUM * self._momentum + gradient
        self._weights = self._weights - RATE * self._momentum


def train(job: Job, ranks: Collective, rank: int, world: int, options: argparse.Namespace) -> int:
    """Train up to a step, or until the daemon asks for the end; the last step."""
    model, step = Model(), 0
    found = job.restore(ranks.find_most)
    if found is not None:
        step, parts = found
        model = Model(parts["model"].read_bytes())
    say(f"rank {rank} begins after step {step}")
    while step < options.steps:
        began = time.monotonic()
        total = ranks.add(model.look(step, rank, world))
        model.learn(total[:-1])
        step += 1
        if rank == 0:
            say(f"step {step} loss {total[-1].hex()}")
        request = job.agree(job.beat(step), step, ranks.find_most)
        if (request is not None or step % options.every == 0) and not job.save(step, {"model": model.write}):
            say(f"rank {rank}: {job.trouble}")
        if request is not None and request.stop:
            break
        time.sleep(max(0.0, began + options.pace - time.monotonic()))  # a real step computes for as long
    job.stopped(step)
    return step


def say(line: str) -> None:
    """In one write, so that the lines of several ranks do not mix."""
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train one rank.")
    parser.add_argument("--job", default="train", help="its name")
    parser.add_argument("--steps", type=int, default=1000, help="after which it is done")
    parser.add_argument("--every", type=int, default=100, help="steps from one save to the next")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds that a step takes at least")
    return parser.parse_args()


def main() -> None:
    """One rank, from the environment that a launcher sets."""
    options, rank, world = parse(), int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    ranks = Collective(Path(os.environ["TRAIN_MEET"]), rank, world)
    step = train(connect(options.job), ranks, rank, world, options)
    say(f"rank {rank} ends after step {step}")


if __name__ == "__main__":
    main()
