"""The page on the built-in plugins says what their settings are."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import msgspec
import pytest

import supernoded_ascend
import supernoded_fabric
import supernoded_fleet
import supernoded_host
import supernoded_hwmon
import supernoded_ipmi
import supernoded_isolation
import supernoded_kubernetes
import supernoded_link_ber
import supernoded_modbus
import supernoded_network
import supernoded_nut
import supernoded_nvidia
import supernoded_power
import supernoded_redfish
import supernoded_ring
import supernoded_slurm
import supernoded_snmp
import supernoded_thermal
from supernoded_fabric.switch import SwitchSettings
from supernoded_hwmon.settings import DriverSettings
from supernoded_modbus.settings import ViewSettings
from supernoded_network.settings import SwitchSettings as DeclaredSwitch
from supernoded_nut.settings import ServerSettings
from supernoded_redfish.settings import BmcSettings, CduSettings, PduSettings
from supernoded_snmp.settings import DeviceSettings
from supernoded_thermal.control.settings import ControlSettings
from supernoded_thermal.node.settings import NodeSettings

PLUGINS: dict[str, type[msgspec.Struct]] = {
    "ascend": supernoded_ascend.supernoded_settings(),
    "fabric": supernoded_fabric.supernoded_settings(),
    "fleet": supernoded_fleet.supernoded_settings(),
    "host": supernoded_host.supernoded_settings(),
    "hwmon": supernoded_hwmon.supernoded_settings(),
    "ipmi": supernoded_ipmi.supernoded_settings(),
    "isolation": supernoded_isolation.supernoded_settings(),
    "kubernetes": supernoded_kubernetes.supernoded_settings(),
    "link_ber": supernoded_link_ber.supernoded_settings(),
    "modbus": supernoded_modbus.supernoded_settings(),
    "network": supernoded_network.supernoded_settings(),
    "nut": supernoded_nut.supernoded_settings(),
    "nvidia": supernoded_nvidia.supernoded_settings(),
    "power": supernoded_power.supernoded_settings(),
    "redfish": supernoded_redfish.supernoded_settings(),
    "ring": supernoded_ring.supernoded_settings(),
    "slurm": supernoded_slurm.supernoded_settings(),
    "snmp": supernoded_snmp.supernoded_settings(),
    "thermal": supernoded_thermal.supernoded_settings(),
}
WITHIN = {  # tables of which there may be several
    "fabric.switches.NAME": SwitchSettings,
    "hwmon.drivers.NAME": DriverSettings,
    "modbus.views.NAME": ViewSettings,
    "network.switches.NAME": DeclaredSwitch,
    "nut.servers.NAME": ServerSettings,
    "redfish.bmcs.NAME": BmcSettings,
    "redfish.cdus.NAME": CduSettings,
    "redfish.pdus.NAME": PduSettings,
    "snmp.devices.NAME": DeviceSettings,
    "thermal.control": ControlSettings,
    "thermal.node": NodeSettings,
}


@pytest.fixture(scope="module")
def page(checkout: Path) -> str:
    return (checkout / "docs" / "built-in-plugins.md").read_text()


@pytest.mark.parametrize(("name", "settings"), [*PLUGINS.items(), *WITHIN.items()])
def test_each_key_is_described_with_its_default(page: str, name: str, settings: type[msgspec.Struct]) -> None:
    section = re.split(r"\n##+ ", page.split(f"# `[plugins.{name}]`", 1)[1])[0]
    told = dict(re.findall(r"^\| `(\w+)` \| (?:`(.*?)`)? \|", section, re.MULTILINE))

    assert told == {field.name: _show(field) for field in msgspec.structs.fields(settings)}


def test_every_built_in_plugin_has_its_section() -> None:
    ours = {one.name for one in entry_points(group="supernoded.plugins") if one.dist is not None and one.dist.name == "supernoded"}

    assert ours == set(PLUGINS)


def test_every_kind_of_verdict_is_told(checkout: Path, page: str) -> None:
    table = page.split("## Kinds of verdicts", 1)[1]
    kinds = set[str]()
    for file in (checkout / "plugins").rglob("*.py"):
        text = file.read_text()
        kinds |= set(re.findall(r'^    kind(?:, scope)?(?:: \w+)? = "(\w+\.\w+)"', text, re.MULTILINE))
    judged = kinds - {"link.drain"}

    assert len(judged) > 20
    assert {kind for kind in judged if f"`{kind}`" not in table} == set()


def _show(field: msgspec.structs.FieldInfo) -> str:
    """A default as TOML has it, nothing for none, for what is empty by default, a table of its own, and for what has to be given."""
    if field.default is msgspec.NODEFAULT or field.default is None or field.default == () or isinstance(field.default, msgspec.Struct):
        return ""
    return str(field.default) if isinstance(field.default, float) else msgspec.json.encode(field.default).decode().replace('","', '", "')
