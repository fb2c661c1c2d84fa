"""The preflight check `L4`: the link monitor has to be switched on for each node by itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from supernoded.plugin import Finding, Severity, WireError, World
from supernoded_redfish.bmc import Bmc

NO_BMC = "set [plugins.redfish.bmcs.<name>] with url, user and password_file"


@dataclass(frozen=True)
class LinkMonitorCheck:
    """See `supernoded.plugin.Check`; over the BMCs that this node's settings name."""

    bmcs: tuple[Bmc, ...]
    id: str = "L4"
    source: str = "L4"
    stage: str = "comm"
    severity: Severity = Severity.WARNING

    async def check(self, world: World) -> Finding:
        """Ask every BMC at once. One that is off fails it; else one that cannot be asked leaves it open."""
        del world
        wanted = "link monitor enabled on every node"
        if not self.bmcs:
            return Finding(passed=None, found="no BMC is configured, so no monitor can be seen", wanted=wanted, fix=NO_BMC)
        seen = await asyncio.gather(*map(_look, self.bmcs))
        off = [bmc for bmc, (enabled, _) in zip(self.bmcs, seen, strict=True) if enabled is False]
        passed = False if off else None if any(enabled is None for enabled, _ in seen) else True
        found = "; ".join(f"{bmc.node}: {told}" for bmc, (_, told) in zip(self.bmcs, seen, strict=True))
        return Finding(passed=passed, found=found, wanted=wanted, fix=_advise(passed=passed, off=off))


async def _look(bmc: Bmc) -> tuple[bool | None, str]:
    try:
        monitor = await bmc.read_monitor()
    except WireError as error:
        return None, str(error)
    return monitor.enabled, monitor.note or ("on" if monitor.enabled else "off")


def _advise(*, passed: bool | None, off: list[Bmc]) -> str:
    if passed:
        return "nothing to do"
    if off:
        names = ", ".join(f"{bmc.node} ({bmc.settings.url})" for bmc in off)
        return f'switch the link monitor on in the BMC of {names}: its page, or PATCH {{"Enabled": true}} to its resource'
    return "make the BMC answer: look at url, user, password_file, ca_file and link_monitor in [plugins.redfish.bmcs.<name>]"
