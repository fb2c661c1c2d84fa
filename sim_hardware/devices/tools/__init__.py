"""The command-line tools of a node, each a function from what it was asked and what the plant shows to what it prints."""

from sim_hardware.devices.tools.running import TOOLS, run_tool
from sim_hardware.devices.tools.words import Run, ToolImpairment, ToolState

__all__ = ["TOOLS", "Run", "ToolImpairment", "ToolState", "run_tool"]
