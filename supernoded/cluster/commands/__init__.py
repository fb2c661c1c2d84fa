"""Signed commands between nodes, and which node performs an action."""
