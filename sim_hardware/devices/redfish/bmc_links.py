"""The link-health monitor of a BMC.

It must be switched on at each node (L4), reads the bit error rate of each port every 5 s (L1), and alarms over 1e-12 (L2).

How such a monitor is reached is told nowhere; this is an OEM resource of our own making. All ports stand in one resource, as it is
read every 5 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sim_hardware.devices.redfish.asking import refuse_others, take_flag
from sim_hardware.devices.redfish.board import Board, is_number, tell_time
from sim_hardware.devices.redfish.gauges import show_status
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body, Deed, link

PERIOD_S = 5.0  # L1
ALARM_RATE = 1e-12  # L2
_SHOWN = ("Name", "IntervalSeconds", "AlarmThreshold", "Status", "Readings")


@dataclass
class LinkMonitor:
    """`ports` are paths of Port resources and the subjects behind them. It is off as delivered."""

    board: Board
    path: str
    ports: Mapping[str, str]
    enabled: bool = False

    def add_to(self, tree: Tree) -> None:
        """Put it into the tree."""
        tree.add(self.path, "SimLinkHealthMonitor.v1_0_0.SimLinkHealthMonitor", self._show, self._set, name="RoCE Link Health Monitor")
        tree.add(f"{self.path}/Readings", "SimLinkHealthReadings.v1_0_0.SimLinkHealthReadings", self._show_readings)

    def _show(self) -> Body:
        return {
            "Enabled": self.enabled,
            "IntervalSeconds": PERIOD_S,
            "AlarmThreshold": ALARM_RATE,
            "Status": {"State": "Enabled" if self.enabled else "Disabled", "Health": "OK"},
            "Readings": link(f"{self.path}/Readings"),
        }

    def _set(self, body: Body) -> Deed:
        refuse_others(body, "Enabled", shown=_SHOWN)
        enabled = take_flag(body, "Enabled")

        def deed() -> None:
            self.enabled = enabled

        return deed

    def _show_readings(self) -> Body:
        shown = [self._show_port(path, port) for path, port in self.ports.items()] if self.enabled else []
        return {"Status": {"State": "Enabled" if self.enabled else "Disabled", "Health": "OK"}, "Ports": shown}

    def _show_port(self, path: str, port: str) -> Body:
        value, at = self.board.read(port, "link.ber.post_fec", PERIOD_S)
        before, _ = self.board.read(port, "link.ber.pre_fec", PERIOD_S)
        rate = _show_rate(value)
        return {
            "Port": link(path),
            "BitErrorRate": rate,
            "PreFecBitErrorRate": _show_rate(before),
            "ReadingTime": tell_time(at),
            "Alarm": rate is not None and rate > ALARM_RATE,
            "Status": show_status(value),
        }


def _show_rate(value: object) -> float | None:
    return float(f"{value:.3e}") if isinstance(value, int | float) and is_number(value) else None
