"""The memory pool and its tiers."""
