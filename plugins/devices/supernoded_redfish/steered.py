"""Which controls of a cooling unit hold its supply temperature: the setpoint, and who has the word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from supernoded.plugin import WireError
from supernoded_redfish.control_page import read_control
from supernoded_redfish.controls import Control, is_authority, is_supply, parse_control
from supernoded_redfish.pages import Body
from supernoded_redfish.paths import read_text
from supernoded_redfish.settings import CduSettings
from supernoded_redfish.unit import CoolingUnit
from supernoded_redfish.unit_words import SUPPLY_CONTROL

SUPPLY = "supply"  # in the name of a control, where there are several of temperatures


class Steered(NamedTuple):
    """Both. Without an authority the unit follows its setpoint whenever that is automatic."""

    point: Control
    authority: Control | None


async def find_steered(unit: CoolingUnit, door: CduSettings) -> Steered:
    """As the settings name them; else as the secondary connectors quote or link to it; else by type and name. Raises WireError."""
    controls = [parse_control(path, body) for path, body in (await unit.list_part("Controls")).items()]
    quoted = list(_list_quoted(await unit.list_part("SecondaryCoolantConnectors")))
    linked = [control for control in controls if any(control.path.strip("/") == one.path.strip("/") for one in quoted if not one.key)]
    supplies = linked or [one for one in quoted if one.key] or [control for control in controls if is_supply(control)]
    named = [control for control in supplies if SUPPLY in control.name]
    point = await _choose(unit, door.setpoint_control, supplies if len(supplies) == 1 else named or supplies, "setpoint_control")
    authorities = [control for control in controls if is_authority(control)]
    if point is None:
        raise WireError(f"{unit.cdu}: no control of its supply temperature is found; set setpoint_control, if it has one")
    return Steered(point, await _choose(unit, door.mode_control, authorities, "mode_control"))


def _list_quoted(connectors: Mapping[str, Body]) -> Iterator[Control]:
    """With a key where the quotation itself is written, without where it leads to a Control."""
    for path, body in connectors.items():
        excerpt = body.get(SUPPLY_CONTROL)
        if isinstance(excerpt, Mapping):
            source = read_text(excerpt.get("DataSourceUri"))
            yield parse_control(source or path, excerpt, "" if source else SUPPLY_CONTROL, "Temperature")


async def _choose(unit: CoolingUnit, given: str, found: Iterable[Control], key: str) -> Control | None:
    if given:
        return await read_control(unit.http, parse_control(given, {}))
    several = list(found)
    if len(several) > 1:
        raise WireError(f"{unit.cdu}: {', '.join(one.path for one in several)[:200]} may all be meant; name one as {key}")
    return several[0] if several else None
