"""The names in a tier: `<job>/step-<12 digits>/rank-<5 digits>/<file>`. What is called otherwise is not ours, and is left alone."""

from __future__ import annotations

import re
from pathlib import Path

SHARED, PEER, DURABLE = "shared", "peer", "durable"  # the tiers, the nearest first
MARKER = ".supernoded-vault"  # in the root of a durable tier: it is mounted, and meant for us
PEER_MARKER = ".supernoded-peer"  # in the root of the folder for the parts of peers, by which a client knows it
RANK_FILE = "rank.json"  # of the rank that saved
SUMS_FILE = "sums.json"  # of the vault: the hashes
WHOLE_FILE = "whole.json"  # of the vault, per step: every rank's part is there
ROOM_FILE = "room.json"  # of the vault, in the root of shared memory: how much may still be saved
TEMPORARY = ".tmp"
GONE = ".gone-"  # before the name of a step that is being removed

MOST_STEP = 10**12 - 1
MOST_RANK = 10**5 - 1

_JOB = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=@-]{0,199}")
_STEP = re.compile(r"step-([0-9]{12})")
_RANK = re.compile(r"rank-([0-9]{5})")
_NODE = re.compile(r"node-([A-Za-z0-9][A-Za-z0-9_.-]{0,127})\.json")
_OWN = frozenset({RANK_FILE, SUMS_FILE})


def name_step(step: int) -> str:
    """`step-000000001200`."""
    return f"step-{step:012d}"


def name_rank(rank: int) -> str:
    """`rank-00007`."""
    return f"rank-{rank:05d}"


def name_node(node: str) -> str:
    """The file with what a node's vault has made durable of a step."""
    return f"node-{node}.json"


def name_draft(final: str, node: str, pid: int) -> str:
    """What a thing is called until it is whole; no two processes use one name."""
    return f".{final}.{node}.{pid}{TEMPORARY}"


def read_draft(name: str, node: str) -> int | None:
    """The process of this node that made a draft; None for anything else."""
    found = re.fullmatch(rf"\..+\.{re.escape(node)}\.([0-9]{{1,10}}){re.escape(TEMPORARY)}", name)
    return int(found[1]) if found else None


def read_step(name: str) -> int | None:
    """The step of a folder; None for any other."""
    found = _STEP.fullmatch(name)
    return int(found[1]) if found else None


def read_rank(name: str) -> int | None:
    """The rank of a folder; None for any other."""
    found = _RANK.fullmatch(name)
    return int(found[1]) if found else None


def read_node(name: str) -> str | None:
    """The node of a node's manifest; None for any other file."""
    found = _NODE.fullmatch(name)
    return found[1] if found else None


def is_job(name: str) -> bool:
    """Whether a folder may be a job's: letters, digits, `_.-`, at most 128."""
    return _JOB.fullmatch(name) is not None


def is_content(name: str) -> bool:
    """Whether a rank may save a file of this name: it cannot lead out of its folder, and is none of ours."""
    return _FILE.fullmatch(name) is not None and name not in _OWN and not name.endswith((TEMPORARY, ".zst"))


def place_part(root: Path, job: str, step: int, rank: int) -> Path:
    """The folder of a rank's part."""
    return root / job / name_step(step) / name_rank(rank)
