"""A node's trees below `/sys/class`, in memory: what is read is what the plant's sensors show at that moment."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from functools import cached_property

from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.sysfs.attributes import Attribute, fail
from sim_hardware.devices.sysfs.dsm import list_dsm
from sim_hardware.devices.sysfs.ethernet import list_ethernet
from sim_hardware.devices.sysfs.hwmon import list_hwmon
from sim_hardware.devices.sysfs.infiniband import list_infiniband
from sim_hardware.rack import Rack


def list_attributes(rack: Rack, node: str) -> dict[str, Attribute]:
    """Every file of a node by its path below `/sys/class`: `infiniband/...`, `net/...`, `hwmon/...`, `dsm/...`."""
    folders = {
        "infiniband": list_infiniband(rack, node),
        "net": list_ethernet(rack, node),
        "hwmon": list_hwmon(node),
        "dsm": list_dsm(node),
    }
    return {f"{folder}/{path}": attribute for folder, found in folders.items() for path, attribute in found}


def render(panel: Panel, node: str) -> Mapping[str, str | OSError]:
    """Every file's text with its newline, or the error that reading it gives. Files of absent sensors are left out."""
    return SysfsTree(panel, node).render()


def write(panel: Panel, node: str, path: str, text: str) -> None:
    """Write one file, which gives the plant an order. Raises OSError as the kernel does."""
    SysfsTree(panel, node).write(path, text)


class SysfsTree:
    """The trees of one node. `name` is its key among the devices."""

    def __init__(self, panel: Panel, node: str) -> None:
        self.name = f"{node}/sysfs"
        self.impairment = Impairment()
        self._panel, self._node = panel, node
        self._shown: dict[str, str] = {}  # what each file said last

    @cached_property
    def _attributes(self) -> dict[str, Attribute]:  # when somebody first looks: a pod has many trees at which nobody ever does
        return list_attributes(self._panel.rack, self._node)

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        return _list_folders(self._attributes)

    def read(self, path: str) -> str:
        """One file, with its newline. Raises OSError: ENOENT, EISDIR, ENODEV when impaired, and what the attribute itself fails with."""
        attribute = self._find(path)
        if self.impairment.refusing:
            fail(errno.ENODEV)
        if not (self.impairment.stale and path in self._shown):
            self._shown[path] = f"{attribute.show(self._panel)}\n"
        return self._shown[path]

    def names(self, path: str = "") -> list[str]:
        """The names in a folder, sorted; none when there is no such folder."""
        return [] if self.impairment.refusing else self._folders.get(path.strip("/"), [])

    def write(self, path: str, text: str) -> None:
        """Write one file. Raises OSError: ENOENT, EISDIR, EACCES for a read-only file, ENODEV when impaired, and as the driver refuses."""
        attribute = self._find(path)
        if self.impairment.refusing:
            fail(errno.ENODEV)
        if attribute.store is None:
            fail(errno.EACCES)
        if not self.impairment.idle_orders:
            attribute.store(self._panel, text)

    def is_writable(self, path: str) -> bool:
        """Whether a file takes writes. Raises OSError when there is none."""
        return self._find(path).store is not None

    def render(self) -> dict[str, str | OSError]:
        """Every file's text, or the error that reading it gives; without those of absent sensors."""
        found = ((path, self._try(path)) for path in self._attributes)
        return {path: text for path, text in found if not isinstance(text, FileNotFoundError)}

    def _try(self, path: str) -> str | OSError:
        try:
            return self.read(path)
        except OSError as error:
            return error

    def _find(self, path: str) -> Attribute:
        attribute = self._attributes.get(path)
        if attribute is None:
            fail(errno.EISDIR if path in self._folders else errno.ENOENT)
        return attribute


def _list_folders(paths: Iterable[str]) -> dict[str, list[str]]:
    """What is in each folder, for each on the way to a file."""
    folders: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        while name and name not in folders.setdefault(folder, set()):
            folders[folder].add(name)
            folder, _, name = folder.rpartition("/")
    return {folder: sorted(names) for folder, names in folders.items()}
