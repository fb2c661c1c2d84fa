"""`docs/settings.md` out of the types, so that it cannot be wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

import msgspec

from supernoded.settings.shape import Settings
from supernoded.tables import Row, list_rows
from supernoded.topology import Topology

_HEAD = """\
# Settings

`supernoded --config supernoded.toml`; a file may be empty. An unknown key, a missing file or an impossible value stops the start with a
line that names file, line, key, value and remedy; `supernoded --check` tells all of them and exits.
Relative paths stand on the file's folder. `journal.file` stands on `state`, `admin.socket` on `runtime`. Secrets come only from files.
A `*` in a key is each entry of a list of tables (`[[nodes]]`) or each name of a table (`[policies.link_ber]`).
`[plugins.<name>]` is the plugin's own; [built-in plugins](built-in-plugins.md) has the tables of those that come with the daemon.
This page is written by `python -m supernoded.settings.describing docs/settings.md` from the types.
"""


def describe_settings() -> str:
    """The page as Markdown."""
    rows = [row for row in list_rows(Settings) if not row.key.startswith("topology.")]
    topology = [
        Row(
            key="topology",
            value="",
            allowed="a path",
            unit="",
            source="",
            meaning="file with the tables below, which may also stand in the settings; neither = this node, no cards",
        ),
        *list_rows(Topology),
    ]
    limits = [row for row in rows if row.key.startswith("limits.")]
    others = [row for row in rows if row not in limits]
    parts = (("## The daemon", others), ("## The topology", topology), ("## Limits: the numbers of [the sources](sources.md)", limits))
    return _HEAD + "".join(f"\n{title}\n{_draw(part)}" for title, part in parts)


def _draw(rows: Iterable[Row]) -> str:
    head = "| key | default | allowed | meaning | source |\n|---|---|---|---|---|\n"
    return head + "".join(f"| `{r.key}` | {_show(r.value)} | {r.allowed} | {r.meaning} | {r.source} |\n" for r in rows)


def _show(value: object) -> str:
    """A default as the file would have it; nothing for what has none."""
    if value is msgspec.NODEFAULT or value is None or value in ("", {}, ()):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{entry}"' for entry in value) + "]`"
    plain = value.value if isinstance(value, Enum) else value
    return f'`"{plain}"`' if isinstance(plain, str | Path) else f"`{plain}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe_settings(), encoding="utf-8")
