"""The table `[vault]`: where checkpoints go, how long they stay, and how often one is worth its time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from supernoded.tables import Conflict, Table, about

BANNED = "lz4"  # C13, however it is written: `--compress=lz4`, `-clz4`, `LZ4`


class Dsm(Table, frozen=True, kw_only=True):
    """Snapshots of the memory pool by its vendor's tools. `{name}` stands for the snapshot's name."""

    sync: Annotated[tuple[str, ...], about("brings the cards' memory into the pool", source="C10")] = ("dsm_sync_all",)
    take: Annotated[tuple[str, ...], about("takes a snapshot", source="C11")] = (
        *("dsm_snapshot", "--name", "{name}"),
        *("--atomic", "--compress", "zstd"),
    )
    verify: Annotated[tuple[str, ...], about("verifies it", source="C11")] = ("dsm_snapshot", "--verify", "{name}")
    verified: Annotated[str, about("what `verify` says of a whole one; without these words nothing is published", source="ours")] = (
        "checksum OK"
    )
    remove: Annotated[tuple[str, ...], about("removes one from the pool; empty = only its manifest goes", source="ours")] = (
        *("dsm_snapshot", "--delete", "{name}"),
    )
    atomic: Annotated[Path, about("the kernel's parameter; where the file is there it must be on", source="C9")] = Path(
        "/sys/class/dsm/dsm0/snapshot_atomic"
    )
    each: Annotated[
        bool, about("a snapshot after each checkpoint that ranks of this node have saved; on one node of a pool", source="ours")
    ] = False
    keep: Annotated[int, about("newest snapshots that are kept", source="ours", ge=1, le=1000)] = 3
    sync_s: Annotated[float, about("longest time to bring it in", unit="s", source="ours", gt=0, le=86_400)] = 600.0
    take_s: Annotated[float, about("longest time to take it", unit="s", source="ours, after C12", gt=0, le=86_400)] = 3600.0
    verify_s: Annotated[float, about("longest time to verify it", unit="s", source="ours, after C12", gt=0, le=86_400)] = 3600.0

    def conflicts(self) -> Iterable[Conflict]:
        """A snapshot is atomic, has a name, and is not packed with lz4."""
        if "--atomic" not in self.take:
            fault = "has no --atomic: what cards write meanwhile would tear it (C9)"
            yield Conflict(key=("take",), fault=fault, remedy="add --atomic")
        for key in ("take", "verify", "remove"):
            argv = getattr(self, key)
            if not any("{name}" in word for word in argv) and (argv or key != "remove"):
                yield Conflict(key=(key,), fault="has no {name}", remedy="say where the snapshot's name goes")
        if not self.verified.strip():
            yield Conflict(key=("verified",), fault="is empty, so any answer would verify a snapshot", remedy='write such as "checksum OK"')
        for key in ("sync", "take", "verify"):
            if not getattr(self, key):
                yield Conflict(key=(key,), fault="is empty", remedy="name the tool")
            if any(BANNED in word.casefold() for word in getattr(self, key)):
                yield Conflict(key=(key,), fault="packs with lz4, which is refused by policy (C13)", remedy="write zstd")


class Interval(Table, frozen=True, kw_only=True):
    """How often a checkpoint is worth its time (C7)."""

    ask: (
        Annotated[bool, about("jobs are asked for one at that interval; absent = where durable is set and mode is act", source="ours")]
        | None
    ) = None
    least_s: Annotated[float, about("shortest time between two checkpoints", unit="s", source="ours", gt=0, le=86_400)] = 60.0
    most_s: Annotated[float, about("longest time between two", unit="s", source="ours", gt=0, le=604_800)] = 3600.0
    least_saves: Annotated[
        float, about("never below so many times the time of a save", source="ours: at most 5 % overhead", ge=1, le=1000)
    ] = 20.0
    mtbf_h: Annotated[float, about("mean time between failures of the job to begin with", unit="h", source="ours", gt=0, le=100_000)] = 24.0

    def conflicts(self) -> Iterable[Conflict]:
        """The shortest is not above the longest."""
        if self.least_s > self.most_s:
            yield Conflict(key=("least_s",), fault=f"is above most_s = {self.most_s:g}", remedy="set it to at most most_s")


class Peer(Table, frozen=True, kw_only=True):
    """The optional tier on other nodes: a second copy in their memory, for as long as storage has none."""

    listen: Annotated[str, about("address for the vaults of other nodes, such as 10.0.0.1:7474; empty = nobody pushes here")] = ""
    push: Annotated[tuple[str, ...], about("addresses of vaults that get this node's parts, and are asked by restore")] = ()
    secret: Annotated[Path, about("file with what all of them know")] | None = None
    folder: Annotated[Path, about("folder in memory for the parts of other nodes")] = Path("/dev/shm/supernoded-peer")  # noqa: S108 - beside the shared one
    most_mb: Annotated[int, about("most that they take of it; 0 = 10 % of its file system", unit="MB", source="ours", ge=0)] = 0
    most_connections: Annotated[int, about("vaults at once", source="ours", ge=1, le=1024)] = 16

    @property
    def is_used(self) -> bool:
        """Whether there is such a tier."""
        return bool(self.listen or self.push)

    def conflicts(self) -> Iterable[Conflict]:
        """Addresses that are some, and a secret to go with them."""
        for index, address in enumerate((self.listen, *self.push)):
            if (address or index) and not _is_address(address):
                key = ("push", index - 1) if index else ("listen",)
                yield Conflict(key=key, fault="is no address with a port", remedy='write such as "10.0.0.1:7474" or "[fd00::1]:7474"')
        if self.is_used and self.secret is None:
            yield Conflict(key=("secret",), fault="is missing", remedy="name a file with a secret that all these vaults have")


def _is_address(text: str) -> bool:
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and int(port) < 65_536 and (":" not in host or host[0] + host[-1] == "[]")


class Vault(Table, frozen=True, kw_only=True):
    """The tiers of checkpoints."""

    shared: Annotated[Path, about("folder in shared memory that ranks save to", source="C2")] = Path("/dev/shm/supernoded")  # noqa: S108 - the document's path
    durable: Annotated[Path, about("folder on storage that outlives the node; absent = shared memory alone", source="C2")] | None = None
    shared_mb: Annotated[int, about("most that checkpoints take of shared memory; 0 = 80 % of it", unit="MB", ge=0)] = 0
    forget_h: Annotated[
        float, about("durable steps leave shared memory so long after their job's last save", unit="h", source="ours", gt=0)
    ] = 24.0
    headroom_mb: Annotated[int, about("space that is left free on the durable tier", unit="MB", source="ours", ge=0)] = 1024
    keep: Annotated[int, about("newest whole steps kept on the durable tier", source="ours", ge=2, le=10_000)] = 3
    keep_every: Annotated[int, about("whole steps whose number this divides are kept for good; 0 = none", source="C16", ge=0)] = 0
    compress: Annotated[str, about("packing on the durable tier, none or zstd", source="C11")] = "none"
    compress_level: Annotated[int, about("level of zstd", source="ours", ge=1, le=19)] = 3
    poll_s: Annotated[float, about("time between two looks at shared memory", unit="s", source="ours", ge=0.05, le=60)] = 0.5
    retry_s: Annotated[float, about("longest pause before a tier in trouble is tried again", unit="s", source="ours", ge=1, le=3600)] = 60.0
    hang_s: Annotated[float, about("a tier that gives no sign of life for so long hangs", unit="s", source="ours", ge=1, le=3600)] = 30.0
    interval: Interval = Interval()
    dsm: Dsm = Dsm()
    peer: Peer = Peer()

    def conflicts(self) -> Iterable[Conflict]:
        """A packing that we have and that is not refused; two tiers in two places."""
        if self.compress == "lz4":
            fault = "is refused by policy: 2.1:1 at 40 % of the CPU, says the document that also bans it (C13)"
            yield Conflict(key=("compress",), fault=fault, remedy='write "zstd" or "none"')
        elif self.compress not in {"none", "zstd"}:
            yield Conflict(key=("compress",), fault="is no packing that we have", remedy='write "zstd" or "none"')
        if self.dsm.each and self.durable is None:
            yield Conflict(key=("dsm", "each"), fault="needs a folder to publish in", remedy="set vault.durable, or leave it out")
        if self.durable is not None and (self.durable == self.shared or self.shared in self.durable.parents):
            yield Conflict(key=("durable",), fault="lies in shared memory", remedy="name a folder on storage that outlives the node")
        for other in (self.shared, self.durable):
            if self.peer.is_used and other is not None and (self.peer.folder == other or other in self.peer.folder.parents):
                yield Conflict(key=("peer", "folder"), fault=f"lies in {other}", remedy="name a folder of its own")
