"""`ethtool -m`, as text and as JSON: the module's measurements by SFF-8472, SFF-8636 and CMIS. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Reading, make_reading
from supernoded_fabric.documents import list_members
from supernoded_fabric.making import LONGEST_LINE, list_lines, read_number, to_milliwatts
from supernoded_fabric.optics import LOSSES, Optics, list_optics

Rows = dict[str, list[str]]  # by name with `_`; a value for each lane, or one

LANES: Mapping[str, tuple[str, ...]] = {
    "bias": ("laser_tx_bias_current", "laser_bias_current"),
    "tx_power": ("transmit_avg_optical_power", "laser_output_power"),
    "rx_power": (
        *("rcvr_signal_avg_optical_power", "receiver_signal_average_optical_power", "receiver_signal_oma", "rcvr_signal_oma"),
        *("rx_power_values", "rx_power_value", "rx_power"),
    ),
}
WHOLE: Mapping[str, tuple[str, ...]] = {
    "temperature": ("module_temperature_measurement", "module_temperature"),
    "voltage": ("module_voltage_measurement", "module_voltage"),
}
LIMITS: Mapping[str, str] = {
    "bias": "laser_bias_current",
    "tx_power": "laser_output_power",
    "rx_power": "laser_rx_power",
    "temperature": "module_temperature",
    "voltage": "module_voltage",
}
LOSS_ROWS = dict(zip(("rx_loss_of_signal", "tx_loss_of_signal", "rx_loss_of_lock", "tx_loss_of_lock"), LOSSES, strict=True))
TRUE, FALSE = frozenset({"yes", "true", "on", "1"}), frozenset({"no", "none", "false", "off", "0"})
MOST_LANES = 16

_NAME = re.compile(r"(?P<name>[A-Za-z][\w /,.-]{0,60}?) ?(?:\(Channel (?P<lane>\d{1,2})\))?", re.ASCII)
_VALUE = re.compile(r"(?P<number>-?(?:\d{1,9}(?:\.\d{1,9})?|inf))\s*(?P<unit>mW|dBm|mA|V|degrees C)?\b.*", re.ASCII)


def parse_module(text: str, at: float, subject: str) -> list[Reading]:
    """The readings of one module; none when it is not about one."""
    rows = _read_members(text) or _read_lines(list_lines(text))
    if "identifier" not in rows:
        return []
    return [make_reading(subject, "link.present", 1.0, "1", at), *list_optics(_gather(rows), subject, at)]


def _read_lines(lines: Sequence[str]) -> Rows:
    """Channels count from 1, with old versions from 0, in the order in which they stand."""
    rows: Rows = {}
    for line in lines:
        head, colon, value = line.partition(":")
        found = _NAME.fullmatch(" ".join(head.split())) if colon else None
        if found is None:
            continue
        name = found["name"].lower().replace(" ", "_")
        if found["lane"] or name not in rows:
            rows.setdefault(name, []).extend(value.strip("[] ").split(",") if "loss_of" in name else [value.strip()])
    return rows


def _read_members(text: str) -> Rows:
    """The first of a name counts: what was measured stands before its limits."""
    rows: Rows = {}
    for name, value in list_members(text):
        rows.setdefault(name.lower(), [f"{one}"[:LONGEST_LINE] for one in (value if isinstance(value, list) else [value])])
    return rows


def _gather(rows: Rows) -> Optics:
    lanes = {name: tuple(map(_read_value, found[:MOST_LANES])) for name, names in LANES.items() if (found := _find(rows, names))}
    whole = {name: _read_value(found[0]) for name, names in WHOLE.items() if (found := _find(rows, names))}
    losses = {name: lost for row, name in LOSS_ROWS.items() if (lost := _read_losses(rows.get(row, [])))}
    return Optics(lanes=lanes, whole=whole, limits=dict(_list_limits(rows)), losses=losses)


def _find(rows: Rows, names: Sequence[str]) -> list[str]:
    return next((rows[name] for name in names if rows.get(name)), [])


def _read_value(text: str) -> float | None:
    """The first of the units it is shown in: mW before dBm, C before F. JSON has plain numbers."""
    found = _VALUE.fullmatch(text.strip())
    if found is None:
        return read_number(text)
    if found["unit"] == "dBm":
        return 0.0 if "inf" in found["number"] else to_milliwatts(float(found["number"]))
    return read_number(found["number"])


def _read_losses(texts: Sequence[str]) -> tuple[bool, ...]:
    """By lane, or one for all; nothing when a word is not understood."""
    words = [text.strip().lower() for text in texts[:MOST_LANES]]
    return tuple(word in TRUE for word in words) if all(word in TRUE | FALSE for word in words) else ()


def _list_limits(rows: Rows) -> Iterator[tuple[str, tuple[float, float]]]:
    """The alarm limits; a module that has none says 0 for all of them."""
    for name, row in LIMITS.items():
        low, high = (_find(rows, (f"{row}_{side}_alarm_threshold",)) for side in ("low", "high"))
        if low and high:
            least, most = _read_value(low[0]), _read_value(high[0])
            if least is not None and most is not None:
                yield name, (least, most)
