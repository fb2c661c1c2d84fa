"""Ascend cards and their links: `npu-smi`, `hccn_tool`, and what the collective library says."""
