from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.three import CUT, ENDS, HEALED, KILLED, NODES, REVIVED, Heard, play


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    return play(tmp_path_factory.mktemp("three"), 1)


def test_nothing_failed_unheard(heard: Heard) -> None:
    assert heard.failures == []
    assert {node: heard.lives[node] for node in NODES} == {"n0": 1, "n1": 2, "n2": 1}


def test_each_beats_once_a_second_while_it_can(heard: Heard) -> None:
    assert len([at for at in heard.beats["n0"] if at > 10.0]) == pytest.approx(ENDS - 10.0, abs=3)
    assert not [at for at in heard.beats["n1"] if KILLED + 0.1 < at < REVIVED]
    assert len([at for at in heard.beats["n1"] if at > REVIVED + 5]) > 30
    assert not [at for at in heard.beats["n2"] if CUT + 0.1 < at < HEALED]
    assert len([at for at in heard.beats["n2"] if at > HEALED + 3]) > 8


def test_the_will_says_that_a_killed_daemon_is_off_and_it_comes_back(heard: Heard) -> None:
    states = [online for at, node, online in heard.presence if node == "n1" and at > KILLED]
    assert states[0] is False
    assert states[-1] is True


def test_link_errors_are_told_once_by_the_node_that_has_them(heard: Heard) -> None:
    raised = [(node, kind) for _, node, kind, up in heard.events if up]
    assert raised.count(("n0", "link.ber")) == 1
    assert ("n1", "link.ber") not in raised


def test_what_happens_while_cut_off_is_told_after_the_healing(heard: Heard) -> None:
    (at,) = [at for at, node, kind, up in heard.events if node == "n2" and kind == "link.ber" and up]
    assert at > HEALED


def run_apart(tmp_path: Path, checkout: Path, seed: int, hash_seed: str) -> str:
    folder = tmp_path / "world"
    shutil.rmtree(folder, ignore_errors=True)
    paths = [checkout, checkout / "plugins/devices", checkout / "plugins/policies"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-m", "tests.chaos.three", str(seed), str(folder)]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=True, timeout=100).stdout.strip()


def test_the_same_seed_gives_the_same_trace_under_another_hash_seed(tmp_path: Path, checkout: Path) -> None:
    first = run_apart(tmp_path, checkout, 5, "1")
    assert len(first) >= 16
    assert run_apart(tmp_path, checkout, 5, "4242") == first
    assert run_apart(tmp_path, checkout, 6, "1") != first
