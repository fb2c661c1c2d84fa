"""The job's client for PyTorch. torch is imported when it is used, so that this file can be read without it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supernoded.job.client import Job, Reduce

SUFFIX = ".pt"
METADATA, STORED = ".metadata", "dcp.metadata"  # the name that torch wants, and one that a part may have
ON_DEVICE = {"nccl": "cuda", "hccl": "npu"}  # back ends that reduce nothing that is in host memory


def make_reduce(group: Any = None, device: Any = None) -> Reduce:
    """What `Job.agree` and `Job.restore` reduce by, over a process group of torch.distributed; without one a rank is alone.

    A gloo group of its own (`dist.new_group(backend="gloo")`) is the best: the agreement then waits for no card.
    """
    torch, dist = import_module("torch"), import_module("torch.distributed")

    def all_reduce_max(value: int) -> int:
        if not (dist.is_available() and dist.is_initialized()):
            return value
        place = device if device is not None else ON_DEVICE.get(str(dist.get_backend(group)), "cpu")
        tensor = torch.tensor([value], dtype=torch.int64, device=place)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX, group=group)
        return int(tensor.item())

    return all_reduce_max


def save(job: Job, step: int, states: Mapping[str, object]) -> bool:
    """Save each state by `torch.save` as a part of its own; whether all are there. What torch raises passes through."""
    torch = import_module("torch")
    return job.save(step, {f"{name}{SUFFIX}": partial(torch.save, state) for name, state in states.items()})


def restore(job: Job, all_reduce_max: Reduce | None = None, map_location: Any = "cpu") -> tuple[int, dict[str, Any]] | None:
    """The newest whole step and its states; None when there is none. Nothing but tensors and plain values is unpickled."""
    torch = import_module("torch")
    found = job.restore(all_reduce_max)
    if found is None:
        return None
    step, parts = found
    paths = {name[: -len(SUFFIX)]: path for name, path in parts.items() if name.endswith(SUFFIX)}
    return step, {name: torch.load(path, map_location=map_location, weights_only=True) for name, path in paths.items()}


def save_distributed(job: Job, step: int, state: Mapping[str, object], group: Any = None) -> bool:
    """Save a sharded state by torch.distributed.checkpoint, each rank into its own folder; whether this rank's part is there."""
    dcp = import_module("torch.distributed.checkpoint")
    try:
        with job.saving(step) as folder:
            writer = dcp.FileSystemWriter(str(folder), sync_files=False)  # there is no disk below shared memory
            dcp.save(state, storage_writer=writer, process_group=group)
            if (folder / METADATA).exists():  # of the rank that coordinates
                (folder / METADATA).rename(folder / STORED)
    except OSError as error:
        job.trouble = f"step {step} is not saved: {error}"
        return False
    return True


def restore_distributed(job: Job, state: Mapping[str, object], all_reduce_max: Reduce | None = None, group: Any = None) -> int | None:
    """Load the newest whole step into `state`; its number, None when there is none. All ranks' parts must be seen from here."""
    dcp = import_module("torch.distributed.checkpoint")
    found = job.restore(all_reduce_max)
    if found is None:
        return None
    step, parts = found
    with ExitStack() as stack:
        together = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="restore-")))
        for home in {path.parent.parent for path in parts.values()}:
            for part in home.glob("rank-?????/*"):
                if part.name == STORED or part.suffix == ".distcp":
                    (together / (METADATA if part.name == STORED else part.name)).symlink_to(part.absolute())
        dcp.load(state, storage_reader=dcp.FileSystemReader(str(together)), process_group=group)
    return step
