"""Recordings played through `supernodectl replay`, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from supernoded.ctl.main import program


@dataclass(frozen=True)
class Played:
    """The lines of one replay."""

    code: int
    lines: Sequence[Mapping[str, Any]]
    said: str

    def pick(self, kind: str) -> list[Mapping[str, Any]]:
        """Lines of one type."""
        return [line for line in self.lines if line["type"] == kind]

    @property
    def events(self) -> list[tuple[str, str, bool]]:
        """Kind, subject, and whether it was raised or cleared."""
        return [(event["kind"], event["subject"], event["raised"]) for event in self.pick("event")]

    @property
    def raised(self) -> set[tuple[str, str]]:
        """Kind and subject of all that was raised."""
        return {(kind, subject) for kind, subject, raised in self.events if raised}

    @property
    def actions(self) -> list[str]:
        """What people would be told."""
        return [action["reason"] for action in self.pick("action")]

    def values(self, quantity: str) -> dict[str, Any]:
        """The newest value of each subject."""
        return {reading["subject"]: reading["value"] for reading in self.pick("reading") if reading["quantity"] == quantity}

    def notes(self, quantity: str) -> dict[str, str]:
        """Why there is no value, by subject."""
        unknown = (reading for reading in self.pick("reading") if reading["quantity"] == quantity and reading["state"] == "unknown")
        return {reading["subject"]: reading["note"] for reading in unknown}


def play(form: str, *files: Path, options: Sequence[str] = ()) -> Played:
    """Play files, 5 s apart unless options say otherwise; it may not fail."""
    result = CliRunner().invoke(program, ["replay", "--as", form, *options, *map(str, files)])
    assert result.exit_code == 0, result.output
    return Played(result.exit_code, [json.loads(line) for line in result.stdout.splitlines()], result.stderr)


def save(folder: Path, *texts: str, name: str = "snapshot") -> list[Path]:
    """A file for each snapshot."""
    paths = [folder / f"{name}{number}.txt" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def save_readings(path: Path, rows: Sequence[tuple[float, str, str, float, str]]) -> Path:
    """Readings as JSON lines: at, subject, quantity, value, unit."""
    names = ("at", "subject", "quantity", "value", "unit")
    path.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows))
    return path


def save_settings(folder: Path, cards: int = 2) -> Path:
    """Settings of `n0` with a topology that declares a cable from port 0 of each even card to port 1 of the next."""
    cables = "\n".join(f'[[cables]]\na = "n0/card{card}/port0"\nb = "n0/card{card + 1}/port1"' for card in range(0, cards, 2))
    (folder / "topology.toml").write_text(f'[[nodes]]\nname = "n0"\ncards = {cards}\n{cables}\n')
    settings = folder / "supernoded.toml"
    settings.write_text(f'node = "n0"\ntopology = "{folder / "topology.toml"}"\nstate = "{folder}"\nruntime = "{folder}"\n')
    return settings
