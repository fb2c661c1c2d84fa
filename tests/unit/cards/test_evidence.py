"""Bundles of evidence: whole, hashed, bounded, and partial rather than late."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cards import shelf as shelves
from supernoded.cards.bundle import Manifest, cut_to, hash_bytes, pack, to_lines
from supernoded.cards.evidence import CaptureActuator, Gather
from supernoded.cards.shelf import Shelf, name_bundle
from supernoded.cards.sources import Kernel, choose, list_sources
from supernoded.errors import WireError
from supernoded.messages import JobRow
from supernoded.model import Effect
from supernoded.settings import Settings
from supernoded.testing import ManualClock, MemoryHost
from tests.unit.cards.rooms import CardRoom, make_action, read

CAPTURE = make_action("card.capture")


def unpack(archive: bytes) -> dict[str, bytes]:
    plain = zstandard.ZstdDecompressor().decompress(archive, max_output_size=50_000_000)
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        return {entry.name: file.read() for entry in tar if (file := tar.extractfile(entry)) is not None}


def make_actuator(folder: Path, clock: ManualClock, sources: Mapping[str, Gather]) -> CaptureActuator:
    return CaptureActuator("n0", ("n0/card3",), Shelf(folder / "evidence"), sources, lambda _: "SN3", clock)


async def say(_card: str) -> bytes:
    return b'{"a":1}\n'


@given(st.dictionaries(st.sampled_from("abc"), st.binary(max_size=2000), min_size=1), st.integers(600, 4000))
def test_an_archive_never_passes_its_bound_and_has_what_its_manifest_says(files: dict[str, bytes], most: int) -> None:
    archive, members = pack(files, 1e9, most)
    found = unpack(archive)
    assert len(archive) <= most
    assert [(member.name, member.size, member.sha256) for member in members] == [
        (name, len(found[name]), hash_bytes(found[name])) for name in sorted(files)
    ]
    assert all(
        files[member.name].endswith(found[member.name]) and member.size + member.cut == len(files[member.name]) for member in members
    )


def test_the_older_lines_go_first() -> None:
    assert cut_to(b"one\ntwo\nthree\n", 9) == b"three\n"
    assert cut_to(b"one\n", 100) == b"one\n"
    assert cut_to(b"x" * 100, 10) == b""


async def test_a_bundle_is_whole_and_found_again(tmp_path: Path, supernoded_clock: ManualClock) -> None:
    actuator = make_actuator(tmp_path, supernoded_clock, {"a.jsonl": say, "b.txt": say})
    assert (await actuator.observe(CAPTURE)).effect is Effect.ABSENT
    await actuator.apply(CAPTURE)
    sight = await actuator.observe(CAPTURE)
    assert sight.effect is Effect.PRESENT
    assert "evidence/i1/n0-card3.tar.zst: 2 files, " in sight.text
    archive = (tmp_path / "evidence/i1/n0-card3.tar.zst").read_bytes()
    manifest = msgspec.json.decode((tmp_path / "evidence/i1/n0-card3.manifest.json").read_bytes(), type=Manifest)
    assert (manifest.subject, manifest.serial, manifest.incident, manifest.missing) == ("n0/card3", "SN3", "i1", ())
    assert (manifest.size, manifest.sha256) == (len(archive), hash_bytes(archive))
    assert unpack(archive) == {"a.jsonl": b'{"a":1}\n', "b.txt": b'{"a":1}\n'}
    later = make_actuator(tmp_path, supernoded_clock, {})
    assert (await later.observe(CAPTURE)).effect is Effect.PRESENT


async def test_a_reason_may_be_any_text(tmp_path: Path, supernoded_clock: ManualClock) -> None:
    odd = msgspec.structs.replace(CAPTURE, step=msgspec.structs.replace(CAPTURE.step, reason="\udcff\0"))

    async def tell(_card: str) -> bytes:
        return to_lines([read("x.tool.said", "\udcff")])

    actuator = make_actuator(tmp_path, supernoded_clock, {"a": tell})
    await actuator.apply(odd)
    assert (await actuator.observe(odd)).effect is Effect.PRESENT


async def test_what_was_changed_since_is_no_evidence(tmp_path: Path, supernoded_clock: ManualClock) -> None:
    actuator = make_actuator(tmp_path, supernoded_clock, {"a": say})
    await actuator.apply(CAPTURE)
    packed = tmp_path / "evidence/i1/n0-card3.tar.zst"
    packed.write_bytes(packed.read_bytes() + b"x")
    with pytest.raises(WireError, match="is not what its manifest says"):
        await actuator.observe(CAPTURE)
    packed.unlink()
    assert (await actuator.observe(CAPTURE)).effect is Effect.ABSENT


async def test_a_source_that_hangs_or_fails_is_missing_and_named(
    tmp_path: Path, supernoded_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_card: str) -> bytes:
        await asyncio.Event().wait()
        return b""

    async def fail(_card: str) -> bytes:
        raise OSError("no space")

    monkeypatch.setattr("supernoded.cards.evidence.EACH", 0.05)
    actuator = make_actuator(tmp_path, supernoded_clock, {"a": say, "hung": hang, "broken": fail})
    await actuator.apply(CAPTURE)
    sight = await actuator.observe(CAPTURE)
    assert sight.effect is Effect.PRESENT
    assert "; without hung (hung gave no answer within 0.05 s); broken (broken failed: OSError: no space)" in sight.text
    nothing = make_actuator(tmp_path / "other", supernoded_clock, {"broken": fail})
    await nothing.apply(CAPTURE)
    sight = await nothing.observe(CAPTURE)
    assert (sight.effect, "no evidence of n0/card3 could be gathered" in sight.text) == (Effect.ABSENT, True)


async def test_a_full_disk_is_named(tmp_path: Path, supernoded_clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, _data: bytes) -> None:
        raise OSError(28, os.strerror(28), str(path))

    monkeypatch.setattr(shelves, "_write", refuse)
    actuator = make_actuator(tmp_path, supernoded_clock, {"a": say})
    await actuator.apply(CAPTURE)
    sight = await actuator.observe(CAPTURE)
    assert sight.effect is Effect.ABSENT
    assert "n0-card3.tar.zst: the evidence is not kept: No space left on device; make room in" in sight.text


async def test_the_oldest_bundles_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "MOST_BUNDLES", 3)
    shelf = Shelf(tmp_path)
    blank = Manifest(
        incident="", subject="n0/card3", serial="", node="n0", at=0.0, reason="", archive="", size=1, sha256=hash_bytes(b"x"), members=()
    )
    for number in range(5):
        manifest = msgspec.structs.replace(blank, incident=f"i{number}")
        await shelf.put(manifest, b"x")
        os.utime(shelf.place(f"i{number}", "n0/card3")[0], (number, number))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["i2", "i3", "i4"]
    assert await shelf.find("i1", "n0/card3") is None
    monkeypatch.setattr(shelves, "MOST_BYTES", 1)
    await shelf.put(blank, b"y" * 100)
    assert [path.name for path in tmp_path.iterdir()] == ["subject"]


@pytest.mark.parametrize(
    ("subject", "name"), [("n0/card3", "n0-card3"), ("../../etc", "etc"), ("..", "subject"), ("", "subject"), ("a b\n", "a-b")]
)
def test_no_name_leads_out_of_the_folder(subject: str, name: str) -> None:
    assert name_bundle(subject) == name


def test_a_bundle_has_the_card_its_node_and_the_ranks() -> None:
    subjects = ["n0/card3", "n0/card3/port0", "n0", "n0/fan1", "job/a/rank1", "n0/card4", "n0/card30/port0", "n1", "n1/card3", "cdu/0"]
    chosen = choose([read("x", 1.0, float(-number), subject=subject) for number, subject in enumerate(subjects)], "n0/card3")
    assert [one.subject for one in chosen] == ["job/a/rank1", "n0/fan1", "n0", "n0/card3/port0", "n0/card3"]


async def test_the_sources_tell_what_the_daemon_knows_and_no_secret(tmp_path: Path, supernoded_clock: ManualClock) -> None:
    room, host = CardRoom(tmp_path, supernoded_clock), MemoryHost()
    kernel = Kernel(host)
    host.kernel = ["<6>before"]
    settings = Settings(node="n0", plugins={"redfish": {"password": "hush"}})
    sources = list_sources(
        settings, room.journal, kernel, lambda: [read("card.power", 90.0)], lambda: [JobRow(job="a", state="running", world=1)]
    )
    await kernel.look()
    host.kernel.append("<3>NVRM: Xid 79")
    told = {name: (await gather("n0/card3")).decode() for name, gather in sources.items()}
    assert list(told) == ["readings.jsonl", "kernel.txt", "events.jsonl", "incidents.jsonl", "actions.jsonl", "jobs.jsonl", "settings.json"]
    assert '"quantity":"card.power"' in told["readings.jsonl"]
    assert "<3>NVRM: Xid 79" in told["kernel.txt"]
    assert '"job":"a"' in told["jobs.jsonl"]
    assert '"attempts_per_subject": 3' in told["settings.json"]
    assert "hush" not in "".join(told.values())
