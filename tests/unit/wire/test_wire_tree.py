"""File trees: what can be read, what each unreadable file costs, and how an order is written."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.wire import Pen
from supernoded.wire import files as wire_files
from supernoded.wire import tree as wire_tree
from supernoded.wire.tree import FileTree

HELD = Pen(lambda scope: None)


def make_tree(root: Path, pen: Pen = HELD, patience: float = 5.0) -> FileTree:
    return FileTree(root, pen, patience)


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


async def test_read_strips(tmp_path: Path) -> None:
    write(tmp_path, state="4: ACTIVE\n")
    assert await make_tree(tmp_path).read("state") == "4: ACTIVE"


async def test_a_missing_file_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(WireError, match=r"nothing: No such file or directory"):
        await make_tree(tmp_path).read("nothing")


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b", "a\0b"])
async def test_a_path_cannot_leave_the_tree(tmp_path: Path, path: str) -> None:
    tree = make_tree(tmp_path)
    with pytest.raises(WireError, match="leads out of"):
        await tree.read(path)
    with pytest.raises(WireError, match="leads out of"):
        await tree.order("node", path, "x")
    with pytest.raises(WireError, match="leads out of"):
        await tree.read_all([path])


async def test_where_a_link_leads(tmp_path: Path) -> None:
    write(tmp_path, file="x")
    (tmp_path / "device").symlink_to("../../../0000:00:18.3")
    tree = make_tree(tmp_path)
    assert [await tree.link(path) for path in ("device", "file", "nothing", "file/below", "")] == ["../../../0000:00:18.3", "", "", "", ""]
    with pytest.raises(WireError, match="leads out of"):
        await tree.link("../device")
    with pytest.raises(WireError, match="File name too long"):
        await tree.link("x" * 300)


async def test_read_all_follows_links_and_is_sorted(tmp_path: Path) -> None:
    write(tmp_path, devices__b__port__x="1", devices__a__port__x="2", devices__a__port__y="3")
    (tmp_path / "class").mkdir()
    for name in ("b", "a"):
        (tmp_path / "class" / name).symlink_to(tmp_path / "devices" / name)
    found = await make_tree(tmp_path / "class").read_all(["*/port/*", "a/port/x"])
    assert list(found.items()) == [("a/port/x", "2"), ("a/port/y", "3"), ("b/port/x", "1")]


async def test_a_pattern_matches_within_one_name_and_folders_are_no_files(tmp_path: Path) -> None:
    write(tmp_path, a__x="1", a__deep__x="2")
    assert await make_tree(tmp_path).read_all(["*/*", "*/nothing", "*"]) == {"a/x": "1"}


async def test_no_tree_is_no_files(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "absent")
    assert await tree.read_all(["*/x"]) == {}
    assert await tree.names() == []


async def test_one_unreadable_file_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path, good="7", huge="x" * (wire_files.MOST_BYTES + 1))
    os.mkfifo(tmp_path / "pipe")
    found = await make_tree(tmp_path).read_all(["*"])
    assert found["good"] == "7"
    assert "larger than 65536 bytes" in str(found["huge"])
    assert "not a regular file" in str(found["pipe"])
    assert isinstance(found["pipe"], WireError)


async def test_a_folder_that_cannot_be_listed_is_not_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, bad__x="1", good__x="2")
    real = os.listdir

    def listdir(path: Path) -> list[str]:
        if path.name == "bad":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    found = await make_tree(tmp_path).read_all(["*/*"])
    assert found["good/x"] == "2"
    assert str(found["bad"]) == f"{tmp_path}/bad: Permission denied"


async def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_tree, "MOST_FILES", 3)
    write(tmp_path, a="1", b="1", c="1", d="1")
    with pytest.raises(WireError, match="more than 3 files match"):
        await make_tree(tmp_path).read_all(["*"])


async def test_a_file_is_read_at_any_bytes(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"\xff\xfe1\n")
    assert (await make_tree(tmp_path).read("raw")).endswith("1")


async def test_a_hung_file_system_takes_one_thread_and_no_other_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, hung__x="1", fine__x="2")
    release, hanging, real = threading.Event(), threading.Event(), os.open
    begun = []

    def open_(path: Path, flags: int) -> int:
        if path.parent.name == "hung":
            begun.append(path)
            hanging.set()
            release.wait(30)
        return real(path, flags)

    monkeypatch.setattr(os, "open", open_)
    hung, fine = make_tree(tmp_path / "hung", patience=0.05), make_tree(tmp_path / "fine")
    try:
        for _ in range(10):
            with pytest.raises(WireError, match=r"no answer within 0\.05 s"):
                await hung.read("x")
            assert await fine.read("x") == "2"
        assert hanging.is_set()
        assert len(begun) == 1
    finally:
        release.set()
    monkeypatch.undo()
    patient = asyncio.create_task(hung._hop.run("again", lambda: "back", 30.0))
    assert await patient == "back"


async def test_an_order_is_written_whole_in_a_folder_that_is_made(tmp_path: Path) -> None:
    await make_tree(tmp_path / "new" / "tree").order("node", "deep/note.json", "whole")
    assert (tmp_path / "new" / "tree" / "deep" / "note.json").read_text() == "whole"
    assert [path.name for path in (tmp_path / "new/tree/deep").iterdir()] == ["note.json"]


async def test_a_refused_order_writes_nothing_at_all(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "out", Pen(lambda scope: f"{scope} is held by n2"))
    with pytest.raises(NotHeldError, match=r"cdu/0: nothing was written, cdu/0 is held by n2"):
        await tree.order("cdu/0", "x", "1")
    assert not (tmp_path / "out").exists()


async def test_a_lease_that_ends_during_a_slow_write_leaves_the_old_file(tmp_path: Path) -> None:
    answers = iter([None, "the lease ended"])
    write(tmp_path, x="old")
    with pytest.raises(NotHeldError, match="the lease ended"):
        await make_tree(tmp_path, Pen(lambda scope: next(answers))).order("cdu/0", "x", "new")
    assert contents(tmp_path) == {"x": "old"}


async def test_a_disk_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(handle: int) -> None:
        raise OSError(28, "No space left on device")

    write(tmp_path, x="old")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(WireError, match="x: No space left on device"):
        await make_tree(tmp_path).order("node", "x", "new")
    assert contents(tmp_path) == {"x": "old"}


async def test_a_kernel_attribute_is_written_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, pwm1="100")
    inode = (tmp_path / "pwm1").stat().st_ino
    monkeypatch.setattr(wire_files, "file_system", lambda path: "sysfs")
    await make_tree(tmp_path).order("node", "pwm1", "255")
    assert (tmp_path / "pwm1").read_text() == "255"
    assert (tmp_path / "pwm1").stat().st_ino == inode


def test_the_file_system_of_a_path_is_known() -> None:
    assert wire_files.file_system(Path("/proc/self/status")) == "proc"
    assert wire_files.file_system(Path(__file__)) not in wire_files.ATTRIBUTES


async def test_trim_keeps_the_newest(tmp_path: Path) -> None:
    write(tmp_path, a="", b="", c="", d="")
    for age, name in enumerate(["c", "a", "d", "b"]):
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    tree = make_tree(tmp_path)
    await tree.trim("node", "", 2)
    assert await tree.names() == ["a", "c"]


async def test_trim_asks_the_pen(tmp_path: Path) -> None:
    write(tmp_path, a="", b="")
    with pytest.raises(NotHeldError):
        await make_tree(tmp_path, Pen(lambda scope: "observing")).trim("node", "", 1)
    assert contents(tmp_path) == {"a": "", "b": ""}


async def test_work_that_waited_too_long_is_never_begun(tmp_path: Path) -> None:
    tree, release, ran = make_tree(tmp_path, patience=0.05), threading.Event(), []
    first = asyncio.create_task(tree._hop.run("first", lambda: release.wait(30), 30.0))
    await asyncio.sleep(0)
    with pytest.raises(WireError):
        await tree._hop.run("second", lambda: ran.append(1), 0.05)
    release.set()
    await first
    await tree._hop.run("third", lambda: None, 30.0)
    assert ran == []
