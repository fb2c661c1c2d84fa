"""Ascend cards and their links: `npu-smi`, `hccn_tool`, and what the collective library says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Format, Node, Sensor, hookimpl
from supernoded_ascend.fitting import fit_sensors
from supernoded_ascend.recorded import read_hccl_log, read_hccn_tool, read_npu_smi
from supernoded_ascend.settings import AscendSettings


@hookimpl
def supernoded_settings() -> type[AscendSettings]:
    """`[plugins.ascend]`."""
    return AscendSettings


@hookimpl
def supernoded_sensors(settings: AscendSettings, node: Node) -> Sequence[Sensor]:
    """One sensor per group of questions that are asked as often, so that none waits for another."""
    return fit_sensors(settings, node)


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """`supernodectl replay --as hccn_tool`, `npu-smi`, `hccl-log`."""
    return {"hccn_tool": read_hccn_tool, "npu-smi": read_npu_smi, "hccl-log": read_hccl_log}
