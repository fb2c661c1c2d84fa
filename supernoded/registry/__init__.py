"""Find plugins, ask each alone, name those left out and why, and refuse two parts for one duty."""

from supernoded.registry.collecting import GROUP, collect, commands, discover, formats, settings_types
from supernoded.registry.parts import Found, Parts

__all__ = ["GROUP", "Found", "Parts", "collect", "commands", "discover", "formats", "settings_types"]
