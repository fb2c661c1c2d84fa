"""TOML becomes typed settings; an unknown key, a missing file or an impossible value is an error that names it."""

from supernoded.settings.reading import (
    default_settings,
    list_files,
    load_settings,
    parse_settings,
    read_plugin_table,
    read_secret,
    read_settings,
)
from supernoded.settings.shape import Admin, Guards, Incidents, Journal, Mqtt, Policy, Settings

__all__ = [
    "Admin",
    "Guards",
    "Incidents",
    "Journal",
    "Mqtt",
    "Policy",
    "Settings",
    "default_settings",
    "list_files",
    "load_settings",
    "parse_settings",
    "read_plugin_table",
    "read_secret",
    "read_settings",
]
