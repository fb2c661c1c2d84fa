"""What people have reported of NUT's drivers and servers, as inputs: what is told of the UPS at each look, one after the other.

Each case has the number of its report (`nut#` is networkupstools/nut, `HA#` home-assistant/core). What is raised where a UPS is stale,
silent or at odds with itself is in `power/test_reports.py`; numbers that stand for nothing, ranges and thresholds are in `test_ups.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

import supernoded_nut
from supernoded.model import State
from supernoded.plugin import Node
from supernoded.testing import MemoryWires
from supernoded_nut.settings import NutSettings
from tests.plugins.nut.conftest import SERVER
from tests.plugins.nut.upsd import Upsd

Says = Mapping[str, str] | str | None  # what the driver tells, a refusal of upsd, or nobody listens
Told = tuple[str, frozenset[str] | None]  # of the link, and of the status
WELL = {"ups.status": "OL", "battery.charge": "100"}
FULL = {"ups.charge": 100.0}
OL, OB = frozenset({"ol"}), frozenset({"ob"})
FINE: Told = ("ok", OL)
STALE: Told = ("stale", None)
GONE: Told = ("no-driver", None)
SILENT: Told = ("silent", None)


@dataclass(frozen=True)
class Report:
    """`unknown` are quantities of which the last look must not tell a value, and `known` those of which it must."""

    id: str
    says: tuple[Says, ...]
    told: tuple[Told, ...]
    unknown: frozenset[str] = frozenset()
    known: Mapping[str, object] = field(default_factory=dict)


REPORTS = (
    # A driver that works when it is started by hand is stale under its own: for as long as it is, nothing old is told.
    Report("nut#2121-stale-from-one-day-on", (WELL, *["DATA-STALE"] * 4), (FINE, *[STALE] * 4), frozenset({"ups.charge"})),
    Report("nut#1780-stops-without-a-word", (WELL, "DATA-STALE", "DRIVER-NOT-CONNECTED"), (FINE, STALE, GONE), frozenset({"ups.charge"})),
    Report(
        "nut#1029-it-does-not-reconnect", (WELL, "DATA-STALE", "DATA-STALE", WELL), (FINE, STALE, STALE, FINE), known={"ups.charge": 100.0}
    ),
    Report("nut#1022-restarted", (WELL, "DRIVER-NOT-CONNECTED", {"ups.status": "WAIT"}, WELL), (FINE, GONE, STALE, FINE)),
    Report("nut#2017-a-push-wakes-it", (*["DATA-STALE"] * 3, {"ups.status": "OB"}), (*[STALE] * 3, ("ok", OB))),
    Report("HA#152219-a-few-times-a-day", (WELL, "DATA-STALE", WELL, "DATA-STALE", WELL), (FINE, STALE, FINE, STALE, FINE)),
    # The machine has slept: its connection is broken, and for a moment upsd calls all stale.
    Report("nut#773-resume", (WELL, None, "DATA-STALE", WELL), (FINE, SILENT, STALE, FINE), known=FULL),
    # A serial line that says nothing between its quotes: what is empty is not known, and never 0 or mains.
    Report(
        "nut#598-empty-strings",
        (WELL, {"ups.status": "", "battery.charge": "", "battery.runtime": " ", "input.voltage": "", "ups.model": "", "ups.load": "31"}),
        (FINE, ("ok", None)),
        frozenset({"ups.charge", "ups.runtime", "ups.input_voltage", "ups.model"}),
        {"ups.load": 31.0},
    ),
    # A UPS that shuts down is lost by its driver: the last word is what it was, and neither "off" nor mains.
    Report(
        "nut#460-shutting-down-is-no-loss-of-the-line",
        ({"ups.status": "OB LB FSD", "battery.charge": "4"}, "DATA-STALE"),
        (("ok", frozenset({"ob", "lb", "fsd"})), STALE),
        frozenset({"ups.charge"}),
    ),
)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.id)
async def test_a_report(report: Report, node: Node, upsd: Upsd, supernoded_wires: MemoryWires) -> None:
    sensor = next(one for one in supernoded_nut.supernoded_sensors(NutSettings(), node) if one.name == "nut.ups/A")
    told, found = list[Told](), {}
    for says in report.says:
        supernoded_wires.stream(SERVER).answer = upsd.answer if says is not None else None
        upsd.devices["ups-a"] = says if isinstance(says, str) else dict(says or {})
        found = {reading.quantity: reading for reading in await sensor.read()}
        status = found["ups.status"].value
        assert status is None or isinstance(status, frozenset)
        told.append((str(found["ups.link"].value), status))
    assert tuple(told) == report.told
    assert all(reading.note for reading in found.values() if reading.value is None)
    assert {quantity for quantity in report.unknown if found[quantity].state is not State.UNKNOWN} == set()
    assert {quantity: found[quantity].value for quantity in report.known} == report.known
