"""The units as systemd itself sees them. `systemd-analyze verify` ends with 0 whatever it finds, so its silence is what counts."""

from __future__ import annotations

import configparser
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from supernoded.__main__ import BAD_SETTINGS
from supernoded.settings import Vault

DAEMON, VAULT, REFLEX = "supernoded.service", "supernoded-vault.service", "supernoded-reflex.service"
UNITS = (DAEMON, VAULT, REFLEX)
# Of 10. What is left: for the daemon the network, the kernel log, serial lines and everybody's processes, which it is there to read; for
# the vault the files of any user and the network to its peers; for the reflex serial lines and real time.
MOST_EXPOSURE = {DAEMON: 2.5, VAULT: 2.4, REFLEX: 1.2}


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


def copy(checkout: Path, name: str, folder: Path) -> Path:
    (folder / name).write_text((checkout / "systemd" / name).read_text())
    return folder / name


@pytest.fixture
def unit(checkout: Path, tmp_path: Path) -> Path:
    """A copy of the daemon's unit, as it is."""
    return copy(checkout, DAEMON, tmp_path)


@pytest.fixture(params=UNITS)
def each(request: pytest.FixtureRequest, checkout: Path, tmp_path: Path) -> Path:
    """The same of each unit."""
    return copy(checkout, request.param, tmp_path)


def test_these_are_all_units(checkout: Path) -> None:
    assert {path.name for path in (checkout / "systemd").glob("*.service")} == set(UNITS)


def read_values(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def test_verify_is_silent(each: Path) -> None:
    done = run("systemd-analyze", "verify", str(each))
    assert (done.stdout, done.returncode) == ("", 0)


def test_verify_would_have_spoken(each: Path) -> None:
    """The canary: a misspelt type ends with 0 as well."""
    each.write_text(re.sub(r"(?m)^Type=.*$", "Type=notfy", each.read_text()))
    done = run("systemd-analyze", "verify", str(each))
    assert "notfy" in done.stdout


def test_exposure_is_low(each: Path) -> None:
    done = run("systemd-analyze", "security", "--offline=true", "--no-pager", str(each))
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) <= MOST_EXPOSURE[each.name], done.stdout


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


def test_bad_settings_are_not_tried_again(each: Path) -> None:
    assert read_values(each, "RestartPreventExitStatus") == [str(BAD_SETTINGS)]


def test_it_is_a_unit_file(each: Path) -> None:
    """No key stands before its section and no section is unknown to systemd."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string(each.read_text())
    assert parser.sections() == ["Unit", "Service", "Install"]


def test_no_unit_drags_another_down_with_it(each: Path) -> None:
    """The reflex and the vault go on without the daemon, and the daemon without them."""
    assert [key for key in ("Requires", "BindsTo", "PartOf", "Requisite") if read_values(each, key)] == []
    assert read_values(each, "StartLimitIntervalSec") == ["0"]
    assert read_values(each, "User") == read_values(each, "Group") == ["supernoded"]


def test_what_each_unit_starts_is_installed(checkout: Path, each: Path) -> None:
    """As a console script of the package."""
    (command,) = read_values(each, "ExecStart")
    scripts = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["scripts"]
    assert command.split()[:2] == ["/usr/bin/env", each.stem]
    assert each.stem in scripts


def test_the_vault_yields_to_the_training_and_reaches_its_tiers(checkout: Path, tmp_path: Path) -> None:
    vault = copy(checkout, VAULT, tmp_path)
    assert (read_values(vault, "Nice"), read_values(vault, "IOSchedulingClass")) == (["19"], ["idle"])
    writable = [Path(each.removeprefix("-")) for each in read_values(vault, "ReadWritePaths")]
    settings = Vault()
    assert [path for path in (settings.shared, settings.peer.folder) if not any(path.is_relative_to(one) for one in writable)] == []
    assert {"AF_UNIX", "AF_INET", "AF_INET6"} == set(read_values(vault, "RestrictAddressFamilies")[0].split()), "the daemon and peers"
    assert read_values(vault, "CapabilityBoundingSet") == ["CAP_DAC_OVERRIDE"]
    assert read_values(vault, "MemoryHigh") == read_values(vault, "MemoryMax") == [], "peers' parts in shared memory would count"
