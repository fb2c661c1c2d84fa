"""What the kernel, and those who watch its links, say of a link or of an adapter: one line to one finding. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST_LINE = 1_000  # characters that are looked at
UP, DOWN, LOST = "up", "down", "lost carrier"

DRIVERS = r"mlx[45]_core|mlx5_\w{1,20}|ice|i40e|ixgbe|bnxt_en|hns3"
# Nothing else in a line makes it worth a closer look: a flood of other lines costs one search each.
_HINT = re.compile(r"link|carrier|Port module|power|leak|health|unrecoverable|recover|PCIe Bus Error|fatal error", re.IGNORECASE)
_PCI = r"(?P<pci>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_DRIVER = re.compile(rf"(?:^|[\s>])(?:{DRIVERS}) {_PCI}(?: (?P<interface>[A-Za-z][\w.@-]{{0,14}}))?:\s*(?P<said>.*)", re.ASCII)
_INTERFACE = re.compile(r"(?:^|[\s>])(?P<interface>[A-Za-z][\w.@-]{0,14}): (?P<said>(?i:lost carrier|carrier lost)\b.*)", re.ASCII)
_ANONYMOUS = re.compile(r"(?:^|[\s>])mlx5_\w{1,40}:\d{1,6}:\(pid \d{1,9}\):\s*(?P<said>.*)", re.ASCII)

_LINK = re.compile(r"(?:NIC )?Link (?:is )?(?P<way>up|down)\b", re.IGNORECASE)
_LOST = re.compile(r"(?:lost carrier|carrier lost)\b", re.IGNORECASE)
_RAISED = (
    ("slot-power", re.compile(r"insufficient power on the PCIe slot", re.IGNORECASE)),
    ("module-temperature", re.compile(r"Port module event\b.*High Temperature", re.IGNORECASE)),
    ("module-fault", re.compile(r"Port module event\b(?!.*High Temperature).*(?:Cable error|unplugged|disabled)", re.IGNORECASE)),
    (
        "firmware",
        re.compile(
            r"timeout\. Will cause a leak|health compromised|unrecoverable|device's health|firmware internal error|fatal error",
            re.IGNORECASE,
        ),
    ),
    ("pcie", re.compile(r"PCIe Bus Error|PCIe? (?:link )?(?:lost|error)", re.IGNORECASE)),
)
_RECOVERED = (
    (frozenset({"slot-power"}), re.compile(r"(?<!in)sufficient power", re.IGNORECASE)),
    (frozenset({"module-temperature", "module-fault"}), re.compile(r"Port module event\b.*\bplugged", re.IGNORECASE)),
    (frozenset({"firmware", "pcie"}), re.compile(r"recover(?:y|ed)\b.*(?:succe|complet|finish|done)|recovered", re.IGNORECASE)),
)


class Said(NamedTuple):
    """A finding: of an interface, of an adapter by its PCI address, or of both as far as the line names them."""

    interface: str
    pci: str
    link: str  # UP, DOWN, LOST, or empty
    raised: frozenset[str]  # flags of nic.health
    recovered: frozenset[str]
    text: str


def read_line(line: str) -> Said | None:
    """None for a line about something else."""
    line = line[:LONGEST_LINE]
    if _HINT.search(line) is None:
        return None
    found = _DRIVER.search(line) or _INTERFACE.search(line) or _ANONYMOUS.search(line)
    if found is None:
        return None
    names, text = found.groupdict(), found["said"].strip()
    recovered = frozenset(flag for flags, pattern in _RECOVERED if pattern.search(text) for flag in flags)
    raised = frozenset(flag for flag, pattern in _RAISED if pattern.search(text)) - recovered
    said = Said(names.get("interface") or "", (names.get("pci") or "").lower(), _read_link(text), raised, recovered, text)
    return said if said.link or raised or recovered else None


def _read_link(text: str) -> str:
    link = _LINK.match(text)
    if link is not None:
        return UP if link["way"].lower() == "up" else DOWN
    return LOST if _LOST.match(text) else ""
