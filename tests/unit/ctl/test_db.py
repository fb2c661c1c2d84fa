from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from supernoded.ctl.main import program


def test_a_new_journal_is_made_and_told(tmp_path: Path) -> None:
    url = str(tmp_path / "journal.db")
    absent = CliRunner().invoke(program, ["db", "current", "--url", url])
    assert absent.exit_code == 1
    assert "there is no journal in this database" in absent.stderr
    made = CliRunner().invoke(program, ["-o", "json", "db", "upgrade"], env={"SUPERNODED_JOURNAL": url})
    assert made.exit_code == 0
    facts = json.loads(made.stdout)
    assert (facts["before"], facts["schema"]) == (None, 1)
    told = CliRunner().invoke(program, ["db", "current", "--url", url])
    assert (told.exit_code, told.stdout) == (0, f"{facts['after']}\n")
    again = CliRunner().invoke(program, ["db", "upgrade", "--url", url])
    assert again.stdout == f"up to date: {facts['after']}\n"


def test_what_is_no_journal_exits_1(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, and long enough to be read as one " * 40)
    result = CliRunner().invoke(program, ["db", "current", "--url", str(tmp_path / "text")])
    assert result.exit_code == 1
    assert "supernodectl: " in result.stderr
