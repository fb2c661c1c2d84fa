"""A rank process for the tests of the job: it trains a number, reduces over a socket of the test, and saves when it is asked.

Imported from its file alone, so that what runs here is what a training script would import.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from typing import IO, Any


def load_client(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("client", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["client"] = module
    spec.loader.exec_module(module)
    return module


class Hub:
    """What stands for the collective: gives a word, gets one back when all have given theirs."""

    def __init__(self, path: str) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(path)
        self._answers = self._line.makefile("r")

    def ask(self, word: str) -> str:
        try:
            self._line.sendall(f"{word}\n".encode())
            answer = self._answers.readline()
        except OSError:
            answer = ""
        if not answer:
            sys.exit(3)  # the collective is aborted
        return answer.strip()

    def all_reduce_max(self, value: int) -> int:
        return int(self.ask(f"max {value}"))


def main(client_path: str, hub_path: str) -> None:
    client, hub = load_client(client_path), Hub(hub_path)
    job = client.connect("train")
    found = job.restore(hub.all_reduce_max)
    step, weight = 0, 0
    if found is not None:
        step, parts = found
        weight = int(parts["weight"].read_bytes())

    def write_slowly(file: IO[bytes]) -> None:
        file.write(b"half")
        hub.ask(f"gate {os.environ['RANK']}")

    hub.ask(f"begin {step} {weight}")
    while True:
        step += 1
        weight += hub.all_reduce_max(step)
        request = job.agree(job.beat(step), step, hub.all_reduce_max)
        if request is not None:
            job.save(step, {"weight": str(weight).encode(), "slow": write_slowly})
            if request.stop:
                break
    job.stopped(step)


if __name__ == "__main__":
    main(*sys.argv[1:])
