from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from supernoded.ctl.jobs import jobs
from supernoded.ctl.rank_map import write_map
from supernoded.errors import AdminError
from supernoded.messages import RankMap
from tests.unit.admin.fake_desk import RANK_MAP, FakeDesk
from tests.unit.ctl.test_verbs import Run, desk, run

__all__ = ["desk", "run"]


def test_a_map_is_written_as_its_launcher_reads_it(run: Run, desk: FakeDesk, tmp_path: Path) -> None:
    del desk
    assert json.loads(run("jobs", "map", "train").stdout)["world"] == 2
    assert run("jobs", "map", "train", "--as", "hostfile").stdout == "# ranks 0-1: CUDA_VISIBLE_DEVICES=0,1\nn0 slots=2\n"
    known = tmp_path / "addresses.json"
    known.write_text('{"n0/card0": "10.0.0.10", "n0/card1": "10.0.0.11"}')
    table = json.loads(run("jobs", "map", "train", "--as", "hccl", "--addresses", str(known)).stdout)
    assert [device["device_ip"] for device in table["server_list"][0]["device"]] == ["10.0.0.10", "10.0.0.11"]
    assert msgspec.json.decode(run("-o", "json", "jobs", "map", "train").stdout, type=RankMap) == RANK_MAP


def test_an_address_that_is_not_known_and_a_job_that_is_not_are_a_no(run: Run, desk: FakeDesk) -> None:
    del desk
    refused = run("jobs", "map", "train", "--as", "hccl")
    assert (refused.exit_code, "none is known of n0/card0, n0/card1" in refused.stderr) == (1, True)
    strange = run("jobs", "map", "trian")
    assert (strange.exit_code, "nothing is told of a job 'trian' here" in strange.stderr) == (1, True)


def test_a_map_with_a_rank_missing_is_refused_with_what_is_missing() -> None:
    told = msgspec.structs.replace(RANK_MAP, world=3, faults=("No card is known of rank 2 of 3.",))
    with pytest.raises(AdminError, match=r"rank 2 of 3[.] As this node is told; ask on a node"):
        write_map(told, "json", {})


@pytest.mark.parametrize("text", ["no json", '["n0/card0"]', '{"n0/card0": 7}'])
def test_a_file_of_addresses_that_is_none_is_named(run: Run, desk: FakeDesk, tmp_path: Path, text: str) -> None:
    del desk
    known = tmp_path / "addresses.json"
    known.write_text(text)
    refused = run("jobs", "map", "train", "--as", "hccl", "--addresses", str(known))
    assert (refused.exit_code, "addresses.json" in refused.stderr) == (1, True)


def test_the_verbs_of_jobs_are_told_in_its_help() -> None:
    text = CliRunner().invoke(jobs, ["--help"]).stdout
    assert "[JOB | COMMAND [ARGS]...]" in text
    assert "map" in text
