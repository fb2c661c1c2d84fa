"""The adapter against a small stand-in for torch, which is far too large to be installed for this."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from supernoded.job import torch as adapter
from supernoded.job.client import Job, connect

STAND_IN = {
    "torch/__init__.py": """
import json
int64 = "int64"

class Tensor:
    def __init__(self, values, device):
        self.values, self.device = values, device
    def item(self):
        return self.values[0]

def tensor(values, dtype, device):
    assert dtype == int64
    return Tensor(list(values), device)

def save(state, file):
    file.write(json.dumps(state).encode())

def load(path, map_location, weights_only):
    assert weights_only and map_location == "cpu"
    return json.loads(path.read_bytes())
""",
    "torch/distributed/__init__.py": """
class ReduceOp:
    MAX = "max"

peers, backend, up, devices = [], "gloo", True, []

def is_available():
    return True

def is_initialized():
    return up

def get_backend(group):
    return backend

def all_reduce(tensor, op, group):
    assert op == ReduceOp.MAX
    devices.append(tensor.device)
    tensor.values[0] = max(tensor.values + peers)
""",
    "torch/distributed/checkpoint.py": """
import json, pathlib

class FileSystemWriter:
    def __init__(self, path, sync_files=True):
        assert not sync_files
        self.path = pathlib.Path(path)

class FileSystemReader:
    def __init__(self, path):
        self.path = pathlib.Path(path)

def save(state, storage_writer, process_group):
    rank = state["rank"]
    (storage_writer.path / f"__{rank}_0.distcp").write_text(json.dumps(state["shard"]))
    if rank == 0:
        (storage_writer.path / ".metadata").write_text("of all")

def load(state, storage_reader, process_group):
    assert (storage_reader.path / ".metadata").read_text() == "of all"
    state["shards"] = [json.loads(path.read_text()) for path in sorted(storage_reader.path.glob("*.distcp"))]
""",
}


@pytest.fixture
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, text in STAND_IN.items():
        (tmp_path / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    importlib.invalidate_caches()
    yield importlib.import_module("torch")
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        del sys.modules[name]


def make_job(rank: int, world: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv("SUPERNODED_VAULT", str(tmp_path / "shm"))
    return connect("train", rank, world=world, path=str(tmp_path / "none"))


def test_the_adapter_itself_imports_no_torch() -> None:
    assert "torch" not in sys.modules
    assert adapter.SUFFIX == ".pt"


@pytest.mark.parametrize(("backend", "device"), [("gloo", "cpu"), ("nccl", "cuda"), ("hccl", "npu")])
def test_ranks_reduce_where_their_back_end_can(backend: str, device: str, torch: Any) -> None:
    dist = importlib.import_module("torch.distributed")
    dist.peers, dist.backend = [9], backend  # type: ignore[attr-defined]
    assert adapter.make_reduce()(4) == 9
    assert adapter.make_reduce(device="xpu")(11) == 11
    assert dist.devices == [device, "xpu"]


def test_a_rank_alone_needs_no_group(torch: Any) -> None:
    dist = importlib.import_module("torch.distributed")
    dist.up, dist.peers = False, [9]  # type: ignore[attr-defined]
    assert adapter.make_reduce()(4) == 4


def test_states_come_back_as_they_were_saved(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(0, 1, tmp_path, monkeypatch)
    assert adapter.restore(job) is None
    assert adapter.save(job, 7, {"model": {"w": [1, 2]}, "optimizer": {"lr": 0.1}}), job.trouble
    assert adapter.restore(job) == (7, {"model": {"w": [1, 2]}, "optimizer": {"lr": 0.1}})


def test_shards_of_all_ranks_are_read_together(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = [make_job(rank, 2, tmp_path, monkeypatch) for rank in range(2)]
    assert adapter.restore_distributed(ranks[0], {}) is None
    for number, job in enumerate(ranks):
        assert adapter.save_distributed(job, 7, {"rank": number, "shard": f"of {number}"}), job.trouble
    state: dict[str, Any] = {}
    assert adapter.restore_distributed(ranks[1], state) == 7
    assert state["shards"] == ["of 0", "of 1"]
    card = json.loads((tmp_path / "shm/train/step-000000000007/rank-00000/rank.json").read_text())
    assert sorted(card["files"]) == ["__0_0.distcp", "dcp.metadata"]


def test_no_room_is_said_and_not_raised(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(0, 1, tmp_path, monkeypatch)
    (tmp_path / "shm").write_text("in the way")
    assert adapter.save_distributed(job, 7, {"rank": 0, "shard": ""}) is False
    assert job.trouble.startswith("step 7 is not saved")
