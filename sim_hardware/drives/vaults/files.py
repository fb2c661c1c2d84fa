"""The vault's file port on the simulator: real files in a folder, with the time that storage takes, and a disk that can be full."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path

from sim_hardware.drives.vaults.threads import spend
from supernoded.job.vault.files import SystemFiles

ASK_S = 0.001  # of an operation on names, ours
CHUNK = 1024  # bytes of our small files that stand for a share of the large ones
CHUNK_S = 0.25  # that such a share takes to be read, written or hashed, ours


class Volume:
    """A file system of so many bytes, of which others have taken some."""

    def __init__(self, root: Path, capacity: int) -> None:
        self.root, self.capacity, self.others = root, capacity, 0

    def measure(self) -> int:
        """Bytes of the files that lie on it."""
        return sum(os.lstat(Path(folder) / name).st_size for folder, _, names in os.walk(self.root) for name in names)

    def find_room(self) -> int:
        """Bytes that may still be written."""
        return max(0, self.capacity - self.others - self.measure())


class VolumeFile(FileIO):
    """A new file on a volume: it takes what there is room for, and then says that there is none."""

    def __init__(self, path: Path, volume: Volume) -> None:
        super().__init__(path, "x")
        self._path, self._volume = path, volume

    def write(self, data: memoryview | bytes, /) -> int:  # type: ignore[override]  # the stubs' name is private
        """See `FileIO.write`."""
        view = memoryview(data)
        room = self._volume.find_room()
        if view and not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        return super().write(view[:room])


class SimFiles(SystemFiles):
    """One vault's. `lives` knows the processes of its machine."""

    def __init__(self, volume: Volume, lives: Callable[[int], bool]) -> None:
        super().__init__()
        self._volume, self._lives = volume, lives

    def lives(self, pid: int) -> bool:
        """See `Files.lives`."""
        return self._lives(pid)

    def find_age(self, path: Path) -> float:
        """See `Files.find_age`: no play lasts as long as any file is waited for, and the files' own times are of another clock."""
        del path
        return 0.0

    def find_space(self, folder: Path) -> tuple[int, int]:
        """See `Files.find_space`."""
        if folder.is_relative_to(self._volume.root):
            return self._volume.find_room(), self._volume.capacity
        return super().find_space(folder)

    def rename(self, old: Path, new: Path) -> None:
        """See `Files.rename`."""
        spend(ASK_S)
        super().rename(old, new)

    def remove(self, path: Path) -> None:
        """See `Files.remove`."""
        spend(ASK_S)
        super().remove(path)

    def sync_folder(self, folder: Path) -> None:
        """See `Files.sync_folder`: what lasts as long as the play needs no disk."""
        del folder
        spend(ASK_S)

    def write_record(self, path: Path, data: bytes) -> None:
        """See `Files.write_record`."""
        spend(ASK_S)
        super().write_record(path, data)

    def _make_file(self, path: Path) -> FileIO:
        if path.is_relative_to(self._volume.root):
            return VolumeFile(path, self._volume)
        return super()._make_file(path)

    def _read(self, file: FileIO) -> Iterator[memoryview]:
        while data := file.read(CHUNK):
            self._move()
            spend(CHUNK_S)
            yield memoryview(data)
