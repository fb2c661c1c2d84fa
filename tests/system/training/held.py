"""`train.py` whose saves stop half-way, until whoever listens at TRAIN_HOLD has let them go on."""

from __future__ import annotations

import importlib
import os
import socket
from typing import IO, Any

train: Any = importlib.import_module("train")


def write_by_halves(model: Any, file: IO[bytes]) -> None:
    """Half of it is on its way to the disk when we ask."""
    file.write(model._weights.tobytes())
    file.flush()
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ["TRAIN_HOLD"])
        line.sendall(f"{os.environ['RANK']}\n".encode())
        line.recv(1)
    file.write(model._momentum.tobytes())


if __name__ == "__main__":
    train.Model.write = write_by_halves
    train.main()
