"""`nvidia-smi -q -x`: part of the vendor's document."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree as ET  # it writes; what is read here comes from nobody

from sim_hardware.devices.tools.gpus import CUDA, DRIVER, MISSING, Gpu

_MEBI = 2.0**-20


def print_xml(gpus: list[Gpu], now: datetime) -> str:
    """The whole document."""
    root = ET.Element("nvidia_smi_log")
    _fill(
        root, {"timestamp": f"{now:%a %b %e %H:%M:%S %Y}", "driver_version": DRIVER, "cuda_version": CUDA, "attached_gpus": f"{len(gpus)}"}
    )
    for gpu in gpus:
        _fill(ET.SubElement(root, "gpu", id=gpu.bus), _describe(gpu))
    ET.indent(root, "\t")
    head = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'
    return head + ET.tostring(root, encoding="unicode") + "\n"


_Tree = dict[str, "str | _Tree"]


def _fill(parent: ET.Element, tree: _Tree) -> None:
    for name, value in tree.items():
        child = ET.SubElement(parent, name)
        if isinstance(value, str):
            child.text = value
        else:
            _fill(child, value)


def _describe(gpu: Gpu) -> _Tree:
    def show(quantity: str, unit: str = "", pattern: str = ".0f", scale: float = 1.0) -> str:
        value = gpu.show(quantity, pattern, scale, "N/A")
        return f"{value} {unit}" if unit and value != "N/A" else value

    corrected, uncorrectable = show("card.ecc_corrected"), show("card.ecc_uncorrectable")
    errors: _Tree = {"dram_correctable": corrected, "dram_uncorrectable": uncorrectable}
    return {
        "product_name": gpu.name,
        "serial": gpu.serial,
        "uuid": gpu.uuid,
        "pci": {"pci_bus_id": gpu.bus},
        "clocks_event_reasons": {
            "clocks_event_reason_sw_power_cap": _say(gpu.show("card.cap") != MISSING),
            "clocks_event_reason_hw_thermal_slowdown": _say(gpu.is_set("card.throttled")),
            "clocks_event_reason_hw_power_brake_slowdown": _say(gpu.is_set("card.brake")),
        },
        "fb_memory_usage": {
            "total": show("card.memory_total", "MiB", scale=_MEBI),
            "used": show("card.memory_used", "MiB", scale=_MEBI),
        },
        "utilization": {"gpu_util": show("card.utilisation", "%")},
        "ecc_errors": {"volatile": dict(errors), "aggregate": dict(errors)},
        "temperature": {"gpu_temp": show("card.temperature", "C")},
        "gpu_power_readings": {"power_draw": show("card.power", "W", ".2f"), "current_power_limit": f"{gpu.limit_watts:.2f} W"},
        "clocks": {"sm_clock": show("card.clock", "MHz")},
    }


def _say(on: bool) -> str:
    return "Active" if on else "Not Active"
