from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import JournalError
from supernoded.journal.spill import ROOM, Spill, parse

PAYLOADS = st.lists(st.binary(min_size=1, max_size=60), max_size=8)


@given(payloads=PAYLOADS, cut=st.integers(0, 600), flip=st.integers(0, 7))
def test_a_torn_or_flipped_tail_costs_no_record_before_it(
    payloads: list[bytes], cut: int, flip: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("spill") / "spill"
    spill = Spill(path, room=1024)
    spill.open()
    for payload in payloads:
        spill.append(payload)
    spill.close()
    whole = path.read_bytes()
    ends = [0]
    for payload in payloads:
        ends.append(ends[-1] + 8 + len(payload))
    torn = min(cut, ends[-1])
    damaged = bytearray(whole[:torn] + bytes(len(whole) - torn))
    if torn < ends[-1]:
        damaged[torn] ^= 1 << flip
    records, _ = parse(bytes(damaged))
    certain = sum(end <= torn for end in ends) - 1
    assert records[:certain] == payloads[:certain]
    assert records == payloads[: len(records)]


def test_the_room_is_taken_in_advance(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill")
    spill.open()
    status = (tmp_path / "spill").stat()
    assert (status.st_size, status.st_mode & 0o777) == (ROOM, 0o600)
    assert status.st_blocks * 512 >= ROOM
    spill.append(b"x" * 1000)
    spill.close()
    assert (tmp_path / "spill").stat().st_size == ROOM


def test_what_was_kept_is_there_after_a_restart_and_gone_after_clearing(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill", room=4096)
    assert spill.open() == []
    spill.append(b"one")
    spill.append(b"two")
    spill.close()
    spill = Spill(tmp_path / "spill", room=4096)
    assert spill.open() == [b"one", b"two"]
    spill.append(b"three")
    spill.clear()
    spill.append(b"four")
    spill.close()
    assert Spill(tmp_path / "spill", room=4096).open() == [b"four"]


def test_a_stale_record_behind_a_torn_one_never_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "spill"
    spill = Spill(path, room=4096)
    spill.open()
    spill.append(b"aaaa")
    spill.append(b"bbbb")
    spill.close()
    content = bytearray(path.read_bytes())
    content[8] ^= 1  # the first record is broken, the second is whole
    path.write_bytes(content)
    spill = Spill(path, room=4096)
    assert spill.open() == []
    spill.append(b"cccc")  # as long as the one it replaces
    spill.close()
    assert Spill(path, room=4096).open() == [b"cccc"]


def test_a_full_file_says_how_full(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill", room=100)
    spill.open()
    spill.append(b"x" * 80)
    with pytest.raises(JournalError, match="88 of 100 bytes are used and 18 were asked for"):
        spill.append(b"x" * 10)
    spill.close()


def test_a_file_that_was_removed_takes_nothing(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill", room=100)
    spill.open()
    (tmp_path / "spill").unlink()
    with pytest.raises(JournalError, match="has been removed"):
        spill.append(b"x")
    assert not spill.is_open


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "new" / "spill")
    assert spill.open() == []
    spill.close()
    assert (tmp_path / "new" / "spill").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(JournalError, match=r"taken/spill could not be opened: (File exists|Not a directory)"):
        Spill(tmp_path / "taken" / "spill").open()
