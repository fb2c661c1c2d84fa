"""A stranger's distribution is built, installed and found as anybody's would be; the plugin in the README is a plugin."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from supernoded import hookspecs
from supernoded.plugin import Node
from supernoded.quantities import find_fault
from supernoded.registry import Found, collect
from supernoded.testing import MemoryWires

PIP = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "--no-cache-dir"]
FIND = """
import json
from supernoded.registry import discover
print(json.dumps({found.name: [found.distribution, found.version, found.trouble, found.plugin.__file__] for found in discover()}))
"""


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=110, stdin=subprocess.DEVNULL, env=os.environ | environment
    )
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder the distribution was installed into, from its own wheel, without network."""
    wheels, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("target")
    source = checkout / "tests" / "foreign" / "supernoded_acme"
    run(*PIP, "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(source))
    (wheel,) = wheels.glob("supernoded_acme-1.0-*.whl")
    run(*PIP, "install", "--quiet", "--no-index", "--no-deps", "--target", str(target), str(wheel))
    return target


def test_it_is_found_beside_the_built_in_plugins(installed: Path, checkout: Path) -> None:
    found = json.loads(run(sys.executable, "-c", FIND, PYTHONPATH=os.pathsep.join([str(installed), str(checkout)])))
    assert found["acme"][:3] == ["supernoded-acme", "1.0", ""]
    assert found["acme"][3].startswith(str(installed))
    assert {"fabric", "host", "link_ber"} <= set(found)


def test_it_passes_mypy_strict_as_installed(installed: Path, checkout: Path, tmp_path: Path) -> None:
    paths = os.pathsep.join([str(installed), str(checkout)])
    run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", "-p", "supernoded_acme"),
        MYPYPATH=paths,
    )


def test_it_imports_nothing_of_ours_but_the_facade(installed: Path) -> None:
    imported = set[str]()
    for file in sorted((installed / "supernoded_acme").glob("*.py")):
        for statement in ast.walk(ast.parse(file.read_text())):
            if isinstance(statement, ast.Import):
                imported |= {alias.name for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom):
                imported.add(statement.module or "")
    ours = {name for name in imported if name.split(".")[0] in {"supernoded", "sim_hardware"}}
    assert ours == {"supernoded.plugin"}


def test_it_uses_every_hook(installed: Path) -> None:
    hooks = {name for name in vars(hookspecs) if name.startswith("supernoded_")}
    text = (installed / "supernoded_acme" / "__init__.py").read_text()
    assert set(re.findall(r"^@hookimpl\ndef (\w+)", text, re.MULTILINE)) == hooks


@pytest.fixture
def readme_plugin(checkout: Path, tmp_path: Path) -> Path:
    """The plugin of the README as a module `acme_uptime`."""
    section = (checkout / "README.md").read_text().split("## A plugin in ten lines", 1)[1]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None, "README.md has no python block under 'A plugin in ten lines'"
    (tmp_path / "acme_uptime.py").write_text(found[1])
    return tmp_path


def test_the_readme_plugin_is_ten_lines_and_well_typed(readme_plugin: Path, checkout: Path) -> None:
    lines = [
        line for line in (readme_plugin / "acme_uptime.py").read_text().splitlines() if line and not line.startswith(("import", "from"))
    ]
    assert len(lines) <= 10
    cache = f"--cache-dir={readme_plugin / 'cache'}"
    run(sys.executable, "-m", "mypy", "--strict", "--config-file=", cache, str(readme_plugin / "acme_uptime.py"), MYPYPATH=str(checkout))


async def test_the_readme_plugin_reads(readme_plugin: Path, supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    spec = spec_from_file_location("acme_uptime", readme_plugin / "acme_uptime.py")
    assert spec is not None
    assert spec.loader is not None
    plugin = module_from_spec(spec)
    spec.loader.exec_module(plugin)
    parts = collect([Found(name="acme", plugin=plugin)], {}, lambda _: supernoded_node)
    assert [found.trouble for found in parts.plugins] == [""]
    supernoded_wires.tree("/proc").files["uptime"] = "5025.37 9000.12\n"
    (reading,) = await parts.sensors[0].read()
    assert (reading.quantity, reading.value, find_fault(reading)) == ("x.acme.uptime", 5025.37, None)


def test_its_verbs_are_supernodectls_too(installed: Path, checkout: Path, tmp_path: Path) -> None:
    log = tmp_path / "chiller.log"
    log.write_text("1.0 supply 21.9\n")
    paths = os.pathsep.join([str(installed), str(checkout)])
    assert "21.9" in run(sys.executable, "-m", "supernoded.ctl", "acme", "decode", str(log), PYTHONPATH=paths)
    assert "acme" in run(sys.executable, "-m", "supernoded.ctl", "--help", PYTHONPATH=paths)
    replayed = run(sys.executable, "-m", "supernoded.ctl", "replay", "--as", "acme-log", str(log), PYTHONPATH=paths)
    assert json.loads(replayed)["quantity"] == "coolant.supply_temperature"
