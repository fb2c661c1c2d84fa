from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from supernoded.ctl.main import program


def call(*words: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(program, ["pki", *map(str, words)])
    assert result.exit_code == code, result.output
    return result


def call_json(*words: str | Path) -> Any:
    return json.loads(call(*words, "-o", "json").stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    call("init", tmp_path / "pki", "--name", "c7")
    return tmp_path / "pki"


def test_from_the_authority_to_a_node(folder: Path) -> None:
    result = call("issue", "n0", "--dir", folder, "--host", "10.0.0.1", "--days", "30")
    assert f"{folder}/nodes/n0: copy it to /etc/supernoded/keys on n0" in result.stdout
    listed = call("list", "--dir", folder).stdout
    assert "cluster c7" in listed
    assert "30 days left" in listed


def test_json(folder: Path) -> None:
    made = call_json("issue", "n0", "--dir", folder)
    assert (made["schema"], made["name"], made["folder"]) == (1, "n0", f"{folder}/nodes/n0")
    rotated = call_json("rotate", "n0", "--dir", folder)
    assert rotated["serial"] != made["serial"]
    gone = call_json("revoke", "n0", "--dir", folder)
    assert [one["serial"] for one in gone["revoked"]] == [rotated["serial"]]
    listed = call_json("list", "--dir", folder)
    assert [(one["name"], one["revoked"] is not None) for one in listed["issued"]] == [("n0", True), ("n0", True)]


def test_init_says_where_and_what(tmp_path: Path) -> None:
    made = call_json("init", tmp_path / "pki")
    assert (made["cluster"], made["authority"]) == ("c0", f"{tmp_path}/pki/ca.crt")


def test_a_broker(folder: Path) -> None:
    made = call_json("issue", "b0", "--broker", "--host", "mq.example", "--dir", folder, "--at", "/etc/mq")
    assert (made["broker"], made["hosts"], made["at"]) == (True, ["mq.example", "b0"], "/etc/mq")
    assert "mosquitto.conf is its listener" in call("rotate", "b0", "--broker", "--dir", folder).stdout


def test_the_folder_by_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPERNODED_PKI", str(folder))
    call("issue", "n0")
    assert (folder / "nodes" / "n0" / "node.key").exists()


def test_no_is_exit_code_1_with_a_sentence(folder: Path, tmp_path: Path) -> None:
    call("issue", "n0", "--dir", folder)
    for words, sentence in (
        (("issue", "n0", "--dir", folder), "has a certificate that counts"),
        (("rotate", "n9", "--dir", folder), "nothing was issued to n9 yet; `supernodectl pki issue n9` does"),
        (("revoke", "n9", "--dir", folder), "nothing that counts was issued to n9"),
        (("list", "--dir", tmp_path / "none"), "make one with `supernodectl pki init DIR`"),
        (("init", folder), "holds an authority; with --force"),
    ):
        result = call(*words, code=1)
        assert result.stderr.startswith("supernodectl: ")
        assert sentence in result.stderr


def test_a_slip_of_the_hand_is_usage(folder: Path) -> None:
    call("issue", "n0", "--dir", folder, "--days", "0", code=2)
    call("issue", "--dir", folder, code=2)


def test_an_empty_authority(folder: Path) -> None:
    assert "nothing was issued yet" in call("list", "--dir", folder).stdout
