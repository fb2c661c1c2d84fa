"""What docs/job.md shows is run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def examples(checkout: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (checkout / "docs/job.md").read_text(), re.DOTALL)


def test_the_plain_example_saves_and_goes_on_where_it_stopped(examples: list[str], tmp_path: Path, checkout: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(examples[0])
    alone = {"SUPERNODED_VAULT": str(tmp_path / "shm"), "SUPERNODED_JOB_SOCKET": str(tmp_path / "none"), "PYTHONPATH": str(checkout)}

    def run(steps: int, **more: str) -> str:
        environment = {**os.environ, **alone, **more}
        return subprocess.run([sys.executable, script, str(steps)], env=environment, capture_output=True, text=True, check=True).stdout

    assert run(1500).startswith("1500 ")
    saved = tmp_path / "shm/llama/step-000000001000/rank-00000"
    assert sorted(path.name for path in saved.iterdir()) == ["rank.json", "weight"]
    (saved / "weight").write_text("999999.0")  # as long as it was: what goes on from here shows it
    (saved / "rank.json").write_text(
        (saved / "rank.json").read_text().replace(re.findall(r'"weight": (\d+)', (saved / "rank.json").read_text())[0], "8")
    )
    assert float(run(1001).split()[1]) > 999_999
    undisturbed = run(1500, SUPERNODED_VAULT=str(tmp_path / "other"))
    assert undisturbed == f"1500 {sum_up(1500)!r}\n"


def sum_up(steps: int) -> float:
    weight = 0.0
    for step in range(steps):
        weight += 1.0 / (step + 1)
    return weight


def test_every_example_is_python(examples: list[str]) -> None:
    assert len(examples) == 3
    for text in examples:
        ast.parse(text)
