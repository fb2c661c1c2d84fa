"""What a chip's inputs and outputs are called here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import count

from supernoded_hwmon.chips import Chip, Files, clean

UNMAPPED = "unmapped: name it in `fans` of [plugins.hwmon]"


def is_named(patterns: Sequence[str], *names: str) -> bool:
    """Whether one of these names fits one of these shell patterns."""
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


class FanNames:
    """Subjects of fans by `chip/fan1`: those that were declared, or in order. One that has a number keeps it, whatever comes and goes."""

    def __init__(self, node: str, declared: Mapping[str, str]) -> None:
        self._node, self._declared = node, declared
        self._given: dict[str, str] = {}

    def name(self, key: str) -> tuple[str, str]:
        """The subject, and a note where nobody has declared it though others are."""
        if self._declared:
            subject = self._declared.get(key)
            return (subject, "") if subject is not None else (f"{self._node}/fan/{key}", UNMAPPED)
        if key not in self._given:
            taken = set(self._given.values())
            self._given[key] = next(one for one in (f"{self._node}/fan{number}" for number in count()) if one not in taken)
        return self._given[key], ""

    def is_declared(self, key: str) -> bool:
        """Whether the settings say that there is such a fan."""
        return key in self._declared


def name_temperature(chip: Chip, files: Files, number: int) -> str:
    """`chip/label`, or `chip/temp1` where the driver has no label of its own for it."""
    labels = [one for one in (_read_label(files, path) for path in files if path.endswith("_label") and path.startswith("temp")) if one]
    own = _read_label(files, f"temp{number}_label")
    if not own:
        return f"{chip.label}/temp{number}"
    return f"{chip.label}/{own}" if labels.count(own) == 1 else f"{chip.label}/{own}-temp{number}"


def _read_label(files: Files, path: str) -> str:
    text = files.get(path)
    return clean(text) if isinstance(text, str) and text.strip() else ""
