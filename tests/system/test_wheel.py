"""What is really in the wheel and in the source distribution: built in this order, the one from the other, without network."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with one sdist and the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(checkout)],
        check=False,
        capture_output=True,
        text=True,
        timeout=110,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(out)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> list[str]:
    (file,) = built.glob("supernoded-*.whl")
    with zipfile.ZipFile(file) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def entry_points(built: Path) -> configparser.ConfigParser:
    (file,) = built.glob("supernoded-*.whl")
    parser = configparser.ConfigParser(delimiters="=")
    with zipfile.ZipFile(file) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
        parser.read_string(archive.read(name).decode())
    return parser


def is_in(wheel: list[str], module: str) -> bool:
    path = module.replace(".", "/")
    return f"{path}.py" in wheel or f"{path}/__init__.py" in wheel


def test_only_our_own_names_are_installed(wheel: list[str]) -> None:
    top = {name.split("/")[0] for name in wheel} - {name.split("/")[0] for name in wheel if ".dist-info/" in name}
    assert {"supernoded", "sim_hardware"} <= top
    assert {name for name in top if name not in {"supernoded", "sim_hardware"} and not name.startswith("supernoded_")} == set()


def test_every_package_is_typed(wheel: list[str]) -> None:
    packages = {name.split("/")[0] for name in wheel if name.endswith("/__init__.py")}
    assert {package for package in packages if f"{package}/py.typed" not in wheel} == set()


def test_migrations_and_units_are_in(wheel: list[str], checkout: Path) -> None:
    for folder, inside in (("migrations", "supernoded/_migrations"), ("systemd", "supernoded/_systemd")):
        files = [file.relative_to(checkout / folder) for file in (checkout / folder).rglob("*") if file.is_file() and file.suffix != ".pyc"]
        assert files
        assert [file for file in files if f"{inside}/{file}" not in wheel] == []


def test_every_entry_point_leads_somewhere(wheel: list[str], entry_points: configparser.ConfigParser) -> None:
    assert {"supernoded", "supernodectl"} <= set(entry_points["console_scripts"])
    targets = [target.split(":")[0] for section in entry_points.sections() for target in entry_points[section].values()]
    assert [target for target in targets if not is_in(wheel, target)] == []


def test_every_plugin_in_the_tree_has_its_entry_point(checkout: Path, entry_points: configparser.ConfigParser) -> None:
    """A folder that nobody loads is a mistake, and so is an entry point without its folder."""
    folders = {path.parent.name for path in (checkout / "plugins").glob("*/*/__init__.py")}
    assert set(entry_points["supernoded.plugins"].values()) == folders


def test_tests_and_scratch_stay_out_of_the_source_distribution(built: Path) -> None:
    (file,) = built.glob("supernoded-*.tar.gz")
    with tarfile.open(file) as archive:
        top = {name.split("/")[1] for name in archive.getnames() if name.count("/") >= 1}
    assert top <= {
        *("supernoded", "sim_hardware", "plugins", "migrations", "systemd"),
        *("pyproject.toml", "README.md", "LICENSE", "PKG-INFO", ".gitignore"),
    }


def test_version_is_that_of_the_package(built: Path, checkout: Path) -> None:
    (file,) = built.glob("supernoded-*.whl")
    assert "version" in tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["dynamic"]
    assert f'__version__ = "{file.name.split("-")[1]}"' in (checkout / "supernoded" / "__init__.py").read_text()
