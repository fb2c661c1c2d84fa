"""A part over a channel: read, hashed and sent at one end; received, hashed, compared and given its name at the other."""

from __future__ import annotations

import hashlib
from io import FileIO
from pathlib import Path

from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Held
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, put_folder, remove_quietly
from supernoded.job.vault.names import RANK_FILE, SUMS_FILE, name_draft
from supernoded.job.vault.peers.channel import Channel
from supernoded.job.vault.peers.words import Hashes
from supernoded.job.vault.records import Saved, Sum, Sums, decode_saved, encode
from supernoded.job.vault.streams import open_regular, write_all

CHUNK = 1 << 20  # bytes that are read and hashed between two turns of the loop, some 2 ms (ours)


async def send_part(channel: Channel, files: Files, held: Held, saved: Saved) -> None:
    """Its files in the order of its record, then their hashes. Raises VaultError when a file is too short: the channel is then void."""
    found = {name: await _send_file(channel, held.folder / name, size) for name, size in saved.files.items()}
    await channel.say(Hashes(files=found, why=_find_change(files, held, saved, found)))


async def receive_part(channel: Channel, files: Files, target: Path, saved: Saved, pen: Pen) -> None:
    """Into a draft beside `target`, and then its name. Nothing is left of it when that fails. Raises VaultError, OSError."""
    draft = target.parent / name_draft(target.name, pen.node, pen.pid)
    files.remove(draft)
    files.make_folder(draft)
    try:
        found = {name: await _receive_file(channel, draft / name, size) for name, size in saved.files.items()}
        told = await channel.hear(Hashes)
        if told.why or told.files != found:
            raise VaultError(told.why or f"{target.name} did not arrive as it was sent: its hashes differ")
        sums = Sums(v=1, pack="none", files={name: Sum(size=size, sha256=found[name]) for name, size in saved.files.items()})
        files.write_record(draft / RANK_FILE, encode(saved))
        files.write_record(draft / SUMS_FILE, encode(sums))
        put_folder(files, draft, target, pen)
    finally:
        remove_quietly(files, draft)  # which is not there any more when all went well


async def _send_file(channel: Channel, path: Path, size: int) -> str:
    digest, left = hashlib.sha256(), size
    with open_regular(path) as file:
        while left:
            data = file.read(min(left, CHUNK))
            if not data:
                raise VaultError(f"{path} has {size - left} bytes, and its rank said {size}")
            digest.update(data)
            left -= len(data)
            await channel.send(data)
    return digest.hexdigest()


async def _receive_file(channel: Channel, path: Path, size: int) -> str:
    digest, left = hashlib.sha256(), size
    with path.open("xb", buffering=0) as file:
        while left:
            data = await channel.receive(min(left, CHUNK))
            digest.update(data)
            left -= len(data)
            _write(file, data, path)
    return digest.hexdigest()


def _write(file: FileIO, data: bytes, path: Path) -> None:
    try:
        write_all(file, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _find_change(files: Files, held: Held, saved: Saved, found: dict[str, str]) -> str:
    """Why what was read is not the part; empty when it is."""
    if held.sums is not None and {name: one.sha256 for name, one in held.sums.files.items()} != found:
        return f"{held.folder} is damaged: its hashes do not hold"
    try:
        same = decode_saved(files.read_record(held.folder / RANK_FILE), saved.step, saved.rank) == saved
    except (OSError, VaultError):
        same = False
    return "" if same else f"{held.folder} was saved anew while it was sent"
