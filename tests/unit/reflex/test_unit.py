"""The unit of the reflex process. `systemd-analyze verify` ends with 0 whatever it finds, so its silence is what counts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from supernoded.reflex.__main__ import BAD_SETTINGS
from supernoded.reflex.living import PING_EVERY
from supernoded.settings.reflex import Reflex
from supernoded.tables import list_rows


@pytest.fixture
def unit(checkout: Path) -> Path:
    return checkout / "systemd" / "supernoded-reflex.service"


def read_values(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def test_verify_is_silent(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text())
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "SYSTEMD_COLORS": "0", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ("systemd-analyze", "verify", str(copy)),
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_it_hangs_on_nothing_and_is_started_anew_when_it_fails(unit: Path) -> None:
    assert [key for key in ("Requires", "BindsTo", "PartOf", "Wants", "Requisite") if read_values(unit, key)] == []
    assert read_values(unit, "Restart") == ["on-failure"], "it ends by itself where there is nothing to do"
    assert read_values(unit, "StartLimitIntervalSec") == ["0"]
    assert read_values(unit, "RestartPreventExitStatus") == [str(BAD_SETTINGS)]
    assert read_values(unit, "RuntimeDirectoryPreserve") == ["yes"]


def test_it_may_have_what_it_asks_for(unit: Path) -> None:
    [priority] = [row for row in list_rows(Reflex) if row.key == "priority"]
    assert f"to {read_values(unit, 'LimitRTPRIO')[0]}" in priority.allowed
    assert read_values(unit, "LimitMEMLOCK") == ["infinity"]
    assert read_values(unit, "RestrictRealtime") == ["no"]
    assert float(read_values(unit, "WatchdogSec")[0]) >= 3 * PING_EVERY
