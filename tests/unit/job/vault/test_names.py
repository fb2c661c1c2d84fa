from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job.vault.names import (
    MOST_RANK,
    MOST_STEP,
    is_content,
    is_job,
    name_draft,
    name_node,
    name_rank,
    name_step,
    place_part,
    read_draft,
    read_node,
    read_rank,
    read_step,
)


@given(st.integers(0, MOST_STEP), st.integers(0, MOST_RANK))
def test_what_is_named_is_read_again(step: int, rank: int) -> None:
    assert read_step(name_step(step)) == step
    assert read_rank(name_rank(rank)) == rank
    assert place_part(Path("/shm"), "llama", step, rank) == Path(f"/shm/llama/step-{step:012d}/rank-{rank:05d}")


@given(st.text())
def test_a_name_that_is_accepted_stays_in_its_folder(name: str) -> None:
    if is_job(name) or is_content(name):
        assert Path("/a", name).parent == Path("/a")
        assert not name.startswith(".")
        assert "\n" not in name


@given(st.text(max_size=60))
def test_strange_names_are_nobodys(name: str) -> None:
    assert read_step(name) is None or name == name_step(read_step(name) or 0)
    assert read_rank(name) is None or name == name_rank(read_rank(name) or 0)


@pytest.mark.parametrize("name", ["..", ".hidden", "a/b", "", "rank.json", "sums.json", "x.tmp", "x.zst", "a" * 201, "a\n", "ü"])
def test_no_rank_saves_a_file_of_this_name(name: str) -> None:
    assert not is_content(name)


@pytest.mark.parametrize("name", ["step-1", "step-00000000000x", "step-0000000000001", "step-000000000001\n", "Step-000000000001"])
def test_this_is_no_step(name: str) -> None:
    assert read_step(name) is None


def test_a_draft_tells_its_process_and_only_on_its_own_node() -> None:
    draft = name_draft("rank-00001", "n1.a", 77)

    assert read_draft(draft, "n1.a") == 77
    assert read_draft(draft, "n1xa") is None
    assert read_draft("rank-00001.tmp", "n1.a") is None
    assert read_node(name_node("n1.a")) == "n1.a"
    assert read_node("node-.json") is None
