"""Removing what may go, so that whoever looks meanwhile sees a step whole or not at all."""

from __future__ import annotations

from pathlib import Path

from supernoded.job.vault.catalogue import list_steps
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import GONE, TEMPORARY, name_step, read_draft

STALE_S = 86_400.0  # a draft that another node, or a rank, has not touched for so long is nobody's (ours)


def remove_step(files: Files, folder: Path, step: int, pen: Pen) -> None:
    """Rename it away, then remove it. Another vault may be faster. Raises OSError."""
    aside = folder / f"{GONE}{name_step(step)}.{pen.node}.{pen.pid}{TEMPORARY}"
    try:
        files.rename(folder / name_step(step), aside)
    except FileNotFoundError:
        return
    files.sync_folder(folder)
    files.remove(aside)


def clear_drafts(files: Files, folder: Path, pen: Pen) -> None:
    """Remove what interrupted vaults and ranks have left in a job's folder and in its steps. Raises OSError."""
    for place in (folder, *(folder / name_step(step) for step in list_steps(files, folder))):
        for name in files.list_names(place):
            if name.endswith(TEMPORARY) and _is_dead(files, place / name, pen):
                files.remove(place / name)


def _is_dead(files: Files, draft: Path, pen: Pen) -> bool:
    """A draft of this node is dead with its process; of any other when it is old."""
    pid = read_draft(draft.name, pen.node)
    if pid is not None and pid != pen.pid and not files.lives(pid):
        return True
    return files.find_age(draft) > STALE_S
