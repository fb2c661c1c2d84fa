"""One BMC and where its link monitor is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from supernoded.plugin import Http, Node, WireError
from supernoded_redfish.monitor import Monitor, find_link, parse_monitor
from supernoded_redfish.paths import ROOT, list_members, place
from supernoded_redfish.settings import BmcSettings, RedfishSettings

WITHIN = 3.0  # seconds for one answer (ours); a BMC takes one or two when it is busy
MOST_MANAGERS = 4  # that are asked for a monitor


def open_bmcs(settings: RedfishSettings, node: Node) -> Iterator[Bmc]:
    """Every BMC of the settings. Raises WireError for a URL that is none."""
    for name, one in settings.bmcs.items():
        http = node.wires.http(one.url, user=one.user, password_file=one.password_file, ca_file=one.ca_file, insecure=one.insecure)
        yield Bmc(name, http, one, one.node or node.name)


class Bmc:
    """A BMC. Where its monitor is, is looked for once, and again after it was not there."""

    def __init__(self, name: str, http: Http, settings: BmcSettings, node: str) -> None:
        self.name, self.node, self.settings, self.http = name, node, settings, http
        self._path = place(settings.link_monitor)

    async def read_monitor(self) -> Monitor:
        """The monitor itself. Raises WireError when it is not there, or the BMC does not tell."""
        path = self._path or await self._find_monitor()
        self._path = path
        try:
            return parse_monitor(await self.http.get(path, WITHIN), path)
        except WireError:
            self._path = place(self.settings.link_monitor)
            raise

    async def read_ports(self, monitor: Monitor) -> Mapping[str, object]:
        """What the monitor reads. Raises WireError."""
        return await self.http.get(place(monitor.readings), WITHIN)

    async def _find_monitor(self) -> str:
        managers = list_members(await self.http.get(f"{ROOT}/Managers", WITHIN))[:MOST_MANAGERS]
        for manager in managers:
            body = await self.http.get(place(manager), WITHIN)
            link = find_link(body.get("Oem"))
            if link:
                return place(link)
        asked = ", ".join(managers) or "none"
        raise WireError(f"no manager of this BMC links to a LinkHealthMonitor (asked: {asked}); set link_monitor if it is somewhere else")
