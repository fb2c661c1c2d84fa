"""What sensors and handle of one daemon share."""

from __future__ import annotations

from dataclasses import dataclass

from supernoded.plugin import Node
from supernoded_hwmon.chips import Chips
from supernoded_hwmon.grip import Grip
from supernoded_hwmon.record import open_record
from supernoded_hwmon.settings import HwmonSettings


@dataclass(frozen=True)
class Site:
    """The chips, and what is held of them."""

    settings: HwmonSettings
    chips: Chips
    grip: Grip


def find_site(settings: HwmonSettings, node: Node) -> Site:
    """The site of this daemon. Raises WireError for a root that is no path."""
    site = node.shared.get(Site)
    if not isinstance(site, Site) or site.settings is not settings:
        chips = Chips(node.wires, settings.root, node.clock)
        record = open_record(node.wires.tree(str(node.state.absolute())))
        site = node.shared[Site] = Site(settings, chips, Grip(chips, record, node.clock, settings))
    return site
