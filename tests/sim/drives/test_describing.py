"""The pages on the simulator, its faults and its scenarios say what the code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import msgspec

from sim_hardware.drives.describing import describe_faults
from sim_hardware.drives.known import CONDITIONS, SCENARIOS
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.plant.cooling.design import list_designs
from sim_hardware.rack.shape import Sim
from sim_hardware.stand_ins import STAND_INS
from supernoded.chaos.grammar import Scenario


def test_the_page_of_faults_is_true(checkout: Path) -> None:
    written = (checkout / "docs" / "faults.md").read_text(encoding="utf-8")

    assert written == describe_faults(), "run: python -m sim_hardware.drives.describing docs/faults.md"


def test_the_page_has_every_kind_and_says_what_may_be_given() -> None:
    page = describe_faults()

    assert [kind for kind in CATALOGUE if f"| `{kind}` | " not in page] == []
    assert "| `power.input_sag` | `depth` | `1.0` | a number from 0.02 to 1 | share of its voltage that it loses |" in page
    assert '| `card.swap` | `serial` | `""` | a text | ' in page


def test_the_page_of_scenarios_shows_a_shipped_file_and_every_key_of_the_grammar(checkout: Path) -> None:
    page = (checkout / "docs" / "scenarios.md").read_text(encoding="utf-8")
    shipped = (SCENARIOS / "sag-500ms.yaml").read_text(encoding="utf-8")

    assert f"```yaml\n{shipped}```" in page, "docs/scenarios.md: bring its copy of sag-500ms.yaml up to date"
    assert [key for key in list_keys(Scenario) if not re.search(rf"`{key}\b|\b{key}:", page)] == []
    assert [name for name in CONDITIONS if f"`{name}`" not in page] == []
    assert [name for name in STAND_INS if f"`{name}`" not in page] == []


def test_the_page_of_the_simulator_has_every_key_of_sim_and_every_plant(checkout: Path) -> None:
    page = (checkout / "docs" / "simulator.md").read_text(encoding="utf-8")

    assert [key for key in list_keys(Sim, "") if f"`{key}`" not in page and not key.startswith("loops")] == []
    assert [name for name in list_designs() if f"`{name}`" not in page] == []


def list_keys(table: Any, prefix: str | None = None) -> list[str]:
    """Every key of a type of tables, by its whole path or (without a prefix) alone."""
    keys: list[str] = []
    for field in msgspec.structs.fields(table):
        name = f"{prefix or ''}{field.encode_name}"
        inner = [one for one in find_structs(field.type) if one is not table]
        keys += [name] if not inner or prefix is None else []
        keys += [key for one in inner for key in list_keys(one, None if prefix is None else f"{name}.")]
    return list(dict.fromkeys(keys))


def find_structs(kind: Any) -> list[Any]:
    """The tables within a type."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [found for part in get_args(kind) for found in find_structs(part)]
