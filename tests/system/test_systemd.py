"""The unit as systemd itself sees it. `systemd-analyze verify` ends with 0 whatever it finds, so its silence is what counts."""

from __future__ import annotations

import configparser
import re
import subprocess
from pathlib import Path

import pytest

from supernoded.__main__ import BAD_SETTINGS

MOST_EXPOSURE = (
    2.5  # of 10; what is left is the network, the kernel log, serial lines and everybody's processes, which the daemon is there to read
)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "SYSTEMD_COLORS": "0", "LC_ALL": "C.UTF-8"},
    )


@pytest.fixture
def unit(checkout: Path, tmp_path: Path) -> Path:
    """A copy of the unit, as it is."""
    (tmp_path / "supernoded.service").write_text((checkout / "systemd" / "supernoded.service").read_text())
    return tmp_path / "supernoded.service"


def read_values(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def test_verify_is_silent(unit: Path) -> None:
    done = run("systemd-analyze", "verify", str(unit))
    assert (done.stdout, done.returncode) == ("", 0)


def test_verify_would_have_spoken(unit: Path) -> None:
    """The canary: a misspelt type ends with 0 as well."""
    unit.write_text(unit.read_text().replace("Type=notify", "Type=notfy"))
    done = run("systemd-analyze", "verify", str(unit))
    assert "notfy" in done.stdout


def test_exposure_is_low(unit: Path) -> None:
    done = run("systemd-analyze", "security", "--offline=true", "--no-pager", str(unit))
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) <= MOST_EXPOSURE, done.stdout


def test_exactly_the_user_and_groups_of_the_unit_are_made(checkout: Path, unit: Path, tmp_path: Path) -> None:
    (tmp_path / "root" / "etc").mkdir(parents=True)
    done = run("systemd-sysusers", "--dry-run", f"--root={tmp_path / 'root'}", str(checkout / "systemd" / "supernoded.sysusers"))
    assert done.returncode == 0, done.stdout
    made = set(re.findall(r"Creating (?:user|group) '([^']+)'", done.stdout))
    needed = {*read_values(unit, "User"), *read_values(unit, "Group"), *read_values(unit, "SupplementaryGroups")}
    assert made == needed - {"dialout"}  # which every distribution has


def test_watchdog_and_stop_leave_the_daemon_its_time(unit: Path) -> None:
    """The daemon stops within 5 s, and is pinged for at half of WatchdogSec."""
    assert read_values(unit, "Type") == ["notify"]
    assert float(*read_values(unit, "TimeoutStopSec")) > 5.0
    assert float(*read_values(unit, "WatchdogSec")) >= 10.0
    assert read_values(unit, "StartLimitIntervalSec") == ["0"]


def test_bad_settings_are_not_tried_again(unit: Path) -> None:
    assert read_values(unit, "RestartPreventExitStatus") == [str(BAD_SETTINGS)]


def test_the_unit_is_a_unit_file(checkout: Path) -> None:
    """No key stands before its section and no section is unknown to systemd."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string((checkout / "systemd" / "supernoded.service").read_text())
    assert parser.sections() == ["Unit", "Service", "Install"]
