"""The vault out of the settings."""

from __future__ import annotations

import msgspec

from supernoded.clock import Clock
from supernoded.errors import SettingsError
from supernoded.job.vault.catalogue import Tier
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import DURABLE, PEER, SHARED
from supernoded.job.vault.rounds import Rounds
from supernoded.job.vault.storing import Storing
from supernoded.settings import Settings

MB = 1_000_000


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the process runs. `storing` is absent without a durable tier."""

    tiers: tuple[Tier, ...]  # the nearest first
    durable: Tier | None
    rounds: Rounds
    storing: Storing | None
    pen: Pen


def list_tiers(settings: Settings) -> tuple[Tier, ...]:
    """The tiers, the nearest first. Links in the settings are followed once, here."""
    vault = settings.vault
    shared = Tier(name=SHARED, root=vault.shared.resolve(), committed=False)
    peer = [Tier(name=PEER, root=vault.peer.folder.resolve(), committed=False)] if vault.peer.is_used else []
    durable = [Tier(name=DURABLE, root=vault.durable.resolve(), committed=True)] if vault.durable is not None else []
    return (shared, *peer, *durable)


def build(settings: Settings, files: Files, clock: Clock, pid: int) -> Work:
    """`pid` is the number of the process. Raises SettingsError for a packing that the limits refuse."""
    vault = settings.vault
    if vault.compress in settings.limits.checkpoint.compress_denied:
        raise SettingsError(f"vault.compress = {vault.compress} is refused by limits.checkpoint.compress_denied (C13); write none or zstd")
    for denied in settings.limits.checkpoint.compress_denied:
        if any(denied.casefold() in word.casefold() for word in vault.dsm.take):
            raise SettingsError(f"vault.dsm.take packs with {denied}, refused by limits.checkpoint.compress_denied (C13); write zstd")
    tiers = list_tiers(settings)
    level = vault.compress_level if vault.compress == "zstd" else None
    pen = Pen(node=settings.node, pid=pid, level=level, headroom=vault.headroom_mb * MB)
    durable = next((tier for tier in tiers if tier.name == DURABLE), None)
    storing = None if durable is None else Storing(files, tiers[0].root, durable, pen, vault.keep, vault.keep_every, clock)
    rounds = Rounds(files, tiers[0], storing, durable, pen, vault.shared_mb * MB, vault.retry_s, vault.forget_h * 3600, clock)
    return Work(tiers=tiers, durable=durable, rounds=rounds, storing=storing, pen=pen)
