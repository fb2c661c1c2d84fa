"""One UPS behind the server: what all connections share."""

from __future__ import annotations

import hashlib

import msgspec

from sim_hardware.devices.nut.settings import SETTINGS
from sim_hardware.devices.nut.variables import Dialect, list_variables
from sim_hardware.devices.nut.words import RefusalError
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.reading import is_dark
from sim_hardware.devices.shutdown import Shutdown

VERSION = "2.8.0"
DRIVER_S = 0.2  # until the driver's answer to a tracked request is known; ours
_KEPT = 100  # answers that are kept


class Account(msgspec.Struct, frozen=True):
    """The one user, who may do everything."""

    user: str = "admin"
    password: str = "simulated"  # noqa: S105 - of a device that does not exist


class Unit:
    """The UPS as upsd holds it.

    `connected` False is a driver that does not run; `impairment.stale` one that has lost its UPS, as it has one without power.
    `fsd` is a latch: only a new server clears it.
    """

    def __init__(
        self, panel: Panel, ups: str, *, dialect: Dialect = "absent", account: Account | None = None, shutdown: Shutdown | None = None
    ) -> None:
        self.panel, self.ups, self.dialect = panel, ups, dialect
        self.account = account or Account()
        self.name = f"ups-{ups.lower()}"
        self.impairment = Impairment()
        self.connected = True
        self.fsd = False
        self.settings = {name: setting.default for name, setting in SETTINGS.items()}
        self.logins: list[str] = []  # hosts that said LOGIN
        self.shutdown = shutdown or Shutdown(panel, ups)
        self._answers: dict[str, tuple[float, str]] = {}
        self._tracked = 0

    def require(self) -> None:
        """Raises RefusalError when its values are not to be had."""
        if not self.connected:
            raise RefusalError("DRIVER-NOT-CONNECTED")
        if self.impairment.stale or is_dark(self.panel, f"ups/{self.ups}"):
            raise RefusalError("DATA-STALE")

    def list_variables(self) -> dict[str, str]:
        """All variables by name, sorted."""
        variables = list_variables(self.panel, self.ups, self.dialect) | self.settings
        variables["ups.timer.shutdown"] = self._count_down()
        if self.fsd:
            variables["ups.status"] = f"FSD {variables.get('ups.status', '')}".rstrip()
        return dict(sorted(variables.items()))

    def _count_down(self) -> str:
        left = self.shutdown.off_at - self.panel.now()
        return f"{left:.0f}" if left < float("inf") else "-1"

    def track(self, result: str) -> str:
        """Keep the driver's answer; give the number to ask for it."""
        self._tracked += 1
        digest = hashlib.blake2b(f"{self.name}/{self._tracked}".encode(), digest_size=16).hexdigest()
        number = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))
        self._answers[number] = (self.panel.now() + DRIVER_S, result)
        if len(self._answers) > _KEPT:
            del self._answers[next(iter(self._answers))]
        return number

    def find_answer(self, number: str) -> str:
        """PENDING, or what the driver has said."""
        at, result = self._answers.get(number, (0.0, "ERR UNKNOWN"))
        return "PENDING" if self.panel.now() < at else result
