"""The page on the built-in plugins says what their settings are."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import supernoded_fabric
import supernoded_host
import supernoded_link_ber

PLUGINS = {"host": supernoded_host, "fabric": supernoded_fabric, "link_ber": supernoded_link_ber}


@pytest.mark.parametrize("name", PLUGINS)
def test_each_key_is_described_with_its_default(checkout: Path, name: str) -> None:
    page = (checkout / "docs" / "built-in-plugins.md").read_text()
    section = page.split(f"## `[plugins.{name}]`", 1)[1].split("\n## ", 1)[0]
    told = dict(re.findall(r"^\| `(\w+)` \| (?:`(.*?)`)? \|", section, re.MULTILINE))

    assert told == {field.name: _show(field) for field in msgspec.structs.fields(PLUGINS[name].supernoded_settings())}


def _show(field: msgspec.structs.FieldInfo) -> str:
    """A default as TOML has it, nothing for none and for what is empty by default."""
    if field.default is None or field.default == () or field.default_factory is not msgspec.NODEFAULT:
        return ""
    return str(field.default) if isinstance(field.default, float) else msgspec.json.encode(field.default).decode()
