"""Scenario files: found by name or path, and read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from supernoded.chaos.catalogue import suggest
from supernoded.chaos.document import Document, Flaw
from supernoded.chaos.grammar import Scenario
from supernoded.errors import ChaosError
from supernoded.page import read_file
from supernoded.tables import Problem

SUFFIX = ".yaml"
LARGEST = 1_000_000  # characters; the pure reader takes seconds for more


def read_scenario(path: Path) -> tuple[Document, Scenario | None]:
    """The file as far as it can be read; None when there are problems, which are all in the document."""
    text = read_file(path)
    if isinstance(text, Problem):
        return _refuse(path, text.fault, text.remedy)
    if len(text) > LARGEST:
        return _refuse(path, f"has {len(text)} characters, at most {LARGEST} are read", "name a scenario file")
    return parse_scenario(str(path), text)


def parse_scenario(name: str, text: str) -> tuple[Document, Scenario | None]:
    """As `read_scenario`, from text."""
    document = Document(name, text)
    scenario = None if document.problems else document.read(Scenario, document.table)
    return document, scenario


def list_scenarios(folders: Iterable[Path]) -> dict[str, Path]:
    """Every scenario below these folders by its name; where two share one, the first."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob(f"*{SUFFIX}")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def find_scenario(wanted: str, folders: Sequence[Path]) -> Path:
    """The file of this path or catalogue name. Raises ChaosError with the nearest name."""
    path = Path(wanted)
    if path.suffix or "/" in wanted:
        if path.exists():
            return path
        raise ChaosError(f"{wanted}: there is no such file")
    known = list_scenarios(folders)
    if wanted not in known:
        raise ChaosError(f"there is no scenario {wanted!r}; {suggest(wanted, known, 'scenarios')}")
    return known[wanted]


def _refuse(path: Path, fault: str, remedy: str) -> tuple[Document, None]:
    document = Document(str(path), "")
    document.problems[:] = [Flaw(file=str(path), key="", value="", fault=fault, remedy=remedy)]
    return document, None
