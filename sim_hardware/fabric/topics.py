"""Topic names and filters, as MQTT 5 section 4.7 has them."""

from __future__ import annotations


def matches(pattern: str, topic: str) -> bool:
    """Whether a filter with `+` and `#` selects a topic; neither reaches into `$SYS` and its like from above."""
    if topic.startswith("$") and pattern[:1] in {"+", "#"}:
        return False
    wanted, given = pattern.split("/"), topic.split("/")
    if wanted[-1] == "#":
        wanted, given = wanted[:-1], given[: len(wanted) - 1]
    return len(wanted) == len(given) and all(level in {"+", name} for level, name in zip(wanted, given, strict=True))


def is_filter(pattern: str) -> bool:
    """Whether this may be subscribed to: wildcards fill a level, and `#` is the last."""
    levels = pattern.split("/")
    return bool(pattern) and all(not set("+#") & set(level) or level in {"+", "#"} for level in levels) and "#" not in levels[:-1]


def is_topic(topic: str) -> bool:
    """Whether this may be published to."""
    return bool(topic) and not set("+#") & set(topic)
