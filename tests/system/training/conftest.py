"""What the tests of a real training share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.training.launched import make_container

MEMORY = Path("/dev/shm")


@pytest.fixture
def container(tmp_path: Path, checkout: Path) -> Path:
    """A folder with the training in it."""
    made = tmp_path / "container"
    make_container(made, checkout)
    return made


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder in shared memory, where there is some."""
    with tempfile.TemporaryDirectory(prefix="training-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        yield Path(folder)
