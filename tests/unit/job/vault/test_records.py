from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import VaultError
from supernoded.job.vault.records import Entry, Saved, agree, decode_saved, decode_sums, decode_whole

GOOD: dict[str, Any] = {"rank": 1, "world": 2, "step": 7, "taken": 5.5, "files": {"model.pt": 3}}
SAVED = Saved(rank=1, world=2, step=7, taken=5.5, files={"model.pt": 3})


def write(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def test_a_ranks_record_is_read_and_what_is_new_in_it_is_left_out() -> None:
    assert decode_saved(write(later="x"), 7, 1) == SAVED


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rank": 0}, "lies in the folder of step 7 and rank 1"),
        ({"step": 8}, "is of step 8"),
        ({"world": 1}, "of a world of 1"),
        ({"world": 10**9}, "of a world of"),
        ({"taken": -1}, "no time"),
        ({"taken": 1e300}, "no time"),
        ({"files": {}}, "lists no file"),
        ({"files": {"../../etc/passwd": 3}}, "no file of a checkpoint"),
        ({"files": {"rank.json": 3}}, "no file of a checkpoint"),
        ({"files": {"a": -1}}, "no file of a checkpoint"),
        ({"files": {"a": "b"}}, "is no Saved record"),
        ({"taken": "now"}, "is no Saved record"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(changes: dict[str, object], words: str) -> None:
    with pytest.raises(VaultError, match=words):
        decode_saved(write(**changes), 7, 1)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode) | st.just(b"[" * 100_000) | st.just(b'{"taken": NaN}'))
def test_garbage_is_a_vault_error_and_nothing_else(data: bytes) -> None:
    for read in (lambda: decode_saved(data, 1, 1), lambda: decode_sums(data, SAVED), lambda: decode_whole(data, 1)):
        with pytest.raises(VaultError):
            read()


def test_hashes_of_other_files_are_refused() -> None:
    sums = {"v": 1, "pack": "none", "files": {"model.pt": {"size": 4, "sha256": ""}}}
    with pytest.raises(VaultError, match="other files or sizes"):
        decode_sums(json.dumps(sums).encode(), SAVED)


def test_a_manifest_that_lacks_a_rank_is_refused() -> None:
    whole = {"v": 1, "step": 7, "world": 2, "run": "", "taken": 1, "size": 1, "parts": {"0": "a"}, "by": "n0", "at": 2}
    with pytest.raises(VaultError, match="1 parts for a world of 2"):
        decode_whole(json.dumps(whole).encode(), 7)


def entry(world: int = 2, run: str = "") -> Entry:
    return Entry(digest="a", world=world, run=run, taken=1.0, size=1)


def test_parts_make_a_step_only_when_all_are_there_and_of_one_start() -> None:
    assert agree({0: entry(), 1: entry()}) == ""
    assert agree({}) == "it has no part"
    assert agree({1: entry()}) == "1 of 2 parts are not there, the first is rank 0"
    assert agree({0: entry(), 1: entry(run="b")}) == "its parts are of 1 worlds and 2 runs"
    assert agree({0: entry(), 1: entry(world=3)}) == "its parts are of 2 worlds and 1 runs"
