"""TOML becomes typed settings; an unknown key, a missing file or an impossible value is an error that names it."""

from supernoded.settings.cluster import Breakers, Hooks, Keys, Seats
from supernoded.settings.job import Job
from supernoded.settings.reading import (
    default_settings,
    list_files,
    load_settings,
    parse_settings,
    read_plugin_table,
    read_secret,
    read_settings,
)
from supernoded.settings.reflex import Reflex
from supernoded.settings.shape import SITE, Admin, Guards, Incidents, Journal, Mqtt, Policy, Settings
from supernoded.settings.vault import Vault

__all__ = [
    "SITE",
    "Admin",
    "Breakers",
    "Guards",
    "Hooks",
    "Incidents",
    "Job",
    "Journal",
    "Keys",
    "Mqtt",
    "Policy",
    "Reflex",
    "Seats",
    "Settings",
    "Vault",
    "default_settings",
    "list_files",
    "load_settings",
    "parse_settings",
    "read_plugin_table",
    "read_secret",
    "read_settings",
]
