from __future__ import annotations

import ast
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job import client
from supernoded.job.client import Job, Order, Request, connect
from supernoded.job.protocol import FromDaemon, Refused, Welcome, Withdraw, decode_peer, encode
from supernoded.job.protocol import Order as SaidOrder
from supernoded.job.protocol import Request as SaidRequest

ASKED = SaidRequest(id="i1/save", kind="checkpoint", deadline_s=10.0, hard_s=20.0, reason="sag", number=4)


class Daemon:
    """One that is played by the test: it listens, and says what it is told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener, self._line = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._listener.settimeout(10)

    def accept(self) -> list[dict[str, Any]]:
        self._line.close()
        self._line, _ = self._listener.accept()
        return self.hear()

    def hear(self) -> list[dict[str, Any]]:
        self._line.settimeout(10)
        lines = self._line.recv(65_536).splitlines()
        for line in lines:
            decode_peer(line)  # the daemon understands it
        return [json.loads(line) for line in lines]

    def say(self, *messages: FromDaemon | bytes) -> None:
        for message in messages:
            self._line.sendall(message if isinstance(message, bytes) else encode(message))

    def has_nobody(self) -> bool:
        return self._line.recv(1) == b""

    def end(self) -> None:
        self._line.close()
        self._listener.close()
        self.path.unlink(missing_ok=True)


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    monkeypatch.setattr(client, "BEAT_S", 0.0)
    monkeypatch.setattr(client, "PAUSES", (0.0, 0.0))
    daemon = Daemon(tmp_path / "job.sock")
    yield daemon
    daemon.end()


def make_job(daemon: Daemon, rank: int = 0, **more: Any) -> Job:
    return connect("train", rank, path=str(daemon.path), **more)


@pytest.fixture
def job(daemon: Daemon) -> Iterator[Job]:
    job = make_job(daemon)
    yield job
    job.stopped()


def test_it_is_written_in_python_3_8_with_the_standard_library_alone() -> None:
    tree = ast.parse(Path(client.__file__).read_text(), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    newer = {"removeprefix", "removesuffix", "bit_count", "pairwise", "batched", "is_relative_to", "readlink", "with_stem", "strict"}
    assert not newer & {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not newer & {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}


def test_without_a_daemon_nothing_happens(tmp_path: Path) -> None:
    job = connect("train", 0, path=str(tmp_path / "none"))
    with job.phase("evaluation", 10.0):
        assert job.beat(1) is None
    assert job.agree(None, 1, lambda value: value) is None
    job.stopped()
    assert job.beat(2) is None


@pytest.mark.parametrize("step", [None, "x", float("nan"), float("inf")])
def test_a_beat_never_raises(step: Any, job: Job) -> None:
    assert job.beat(step) is None
    assert "a step is a whole number" in job.trouble


@pytest.mark.parametrize("name", ["", "../up", "a/b", "x" * 129])
def test_a_job_that_can_be_no_folder_is_refused_at_once(name: str) -> None:
    with pytest.raises(ValueError, match="a name has"):
        connect(name, 0)


def test_ranks_and_socket_are_found_in_the_environment(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"RANK": "7", "LOCAL_RANK": "3", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8", "SUPERNODED_JOB_TOKEN": "s"}
    for name, value in {**variables, "SUPERNODED_JOB_SOCKET": str(daemon.path)}.items():
        monkeypatch.setenv(name, value)
    connect("train").beat(5)
    (hello,) = daemon.accept()
    said = {key: hello[key] for key in ("job", "kind", "rank", "local_rank", "world", "local", "token", "step")}
    assert said == {"job": "train", "kind": "rank", "rank": 7, "local_rank": 3, "world": 16, "local": 8, "token": "s", "step": 5}


def test_beats_are_told_and_bring_the_request_until_it_is_withdrawn(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(Welcome(node="n0"), ASKED)
    request = job.beat(2)
    assert request is not None
    assert (request.id, request.number, request.stop, request.reason) == ("i1/save", 4, False, "sag")
    assert 9.0 < request.deadline - time.monotonic() <= 10.0
    assert daemon.hear() == [{"t": "beat", "step": 2}]
    assert job.beat(3) is request
    daemon.say(Withdraw(id="other"), Withdraw(id="i1/save"))
    assert job.beat(4) is None


def test_a_daemon_that_comes_back_is_told_where_the_rank_stands(
    daemon: Daemon, job: Job, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(Welcome(node="n0", tiers=(str(tmp_path / "shm"),)), ASKED)
    request = job.agree(job.beat(2), 2)
    assert job.save(2, {"a": b"12345"}) is False, "nobody has made the folder's job yet" if False else job.trouble
    daemon.end()


@pytest.mark.parametrize(
    "line", [b"[]\n", b"{}\n", b'{"t":"request"}\n', b'{"t":"request","number":"x"}\n', b"\xff\n", b"[" * 5000 + b"\n"]
)
def test_what_it_does_not_understand_does_no_harm(line: bytes, daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(line, ASKED)
    request = job.beat(2)
    assert request is not None
    assert request.id == "i1/save"


def test_a_line_without_an_end_is_hung_up_on(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    for _ in range(6):
        daemon.say(b"x" * 60_000)
        job.beat(2)
    assert daemon.accept()[0]["t"] == "hello"


def test_a_daemon_that_reads_nothing_holds_nobody_up(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    for _ in range(20_000):
        with job.phase("x" * 150, 1.0):
            job.beat(2)
    assert len(job._line._out) <= client.MOST_BYTES


def test_refused_is_said_in_a_sentence_and_tried_again(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    daemon.say(Refused(why="rank 0 is here already"))
    job.beat(2)
    assert job.trouble == "the daemon refuses this rank: rank 0 is here already"


def test_a_child_leaves_the_connection_to_its_parent(daemon: Daemon, job: Job) -> None:
    job.beat(1)
    daemon.accept()
    child = os.fork()
    if not child:
        job.beat(99)
        os._exit(0 if job._line._socket is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    job.beat(2)
    assert daemon.hear() == [{"t": "beat", "step": 2}]


def test_a_child_that_is_the_rank_now_dials_anew(daemon: Daemon) -> None:
    job = make_job(daemon, follow_fork=True)
    child = os.fork()
    if not child:
        job.beat(99)
        os._exit(0)
    os.waitpid(child, 0)
    (hello,) = daemon.accept()
    assert hello["step"] == 99


def test_threads_may_speak_at_once(daemon: Daemon, job: Job) -> None:
    job.beat(0)
    daemon.accept()
    heard: list[bytes] = []

    def listen() -> None:
        while b'"bye"' not in b"".join(heard[-2:]):
            heard.append(daemon._line.recv(65_536))

    def speak(first: int) -> None:
        for step in range(first, first + 200):
            with job.phase(f"p{first}", 1.0):
                job.beat(step)

    threads = [threading.Thread(target=speak, args=(first,)) for first in (0, 1000, 2000)]
    listening = threading.Thread(target=listen)
    for thread in (listening, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    job.stopped()
    listening.join()
    kinds = [json.loads(line)["t"] for line in b"".join(heard).splitlines()]
    assert kinds.count("phase") == 3 * 200 * 2
    assert kinds[-1] == "bye"


def agree_together(ranks: list[Job], requests: list[Request | None], steps: list[int]) -> list[Request | None]:
    """All ranks at one step: what each gives, reduced, and what each then answers."""
    given: list[int] = []

    class Asked(Exception):
        pass

    def note(value: int) -> int:
        given.append(value)
        raise Asked

    for rank, request, step in zip(ranks, requests, steps, strict=True):
        with pytest.raises(Asked):
            rank.agree(request, step, note)
    return [rank.agree(request, step, lambda _: max(given)) for rank, request, step in zip(ranks, requests, steps, strict=True)]


def lone_ranks(world: int) -> list[Job]:
    return [connect("train", rank, world=world, path="/nowhere/job.sock") for rank in range(world)]


CHECKPOINT, STOP = Request("a", 3, "checkpoint"), Request("b", 2, "stop")


def test_ranks_that_have_not_heard_learn_of_it_through_the_collective() -> None:
    answers = agree_together(lone_ranks(3), [None, CHECKPOINT, None], [7, 7, 7])
    assert [answer and answer.number for answer in answers] == [3, 3, 3]
    assert [answer and answer.id for answer in answers] == ["", "a", ""]


def test_nobody_saves_when_all_know_that_it_is_withdrawn() -> None:
    assert agree_together(lone_ranks(3), [None] * 3, [10**12 - 1] * 3) == [None] * 3


def test_a_stop_outranks_a_later_checkpoint() -> None:
    answers = agree_together(lone_ranks(2), [CHECKPOINT, STOP], [7, 7])
    assert [answer and answer.stop for answer in answers] == [True, True]


@given(st.lists(st.sampled_from([None, CHECKPOINT, STOP]), min_size=3, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_ranks_that_count_apart_still_save_the_same_step(requests: list[Request | None], ahead: list[int]) -> None:
    """Ranks that are asked at different steps in one collective, such as stages of a pipeline."""
    ranks = lone_ranks(3)
    saved: dict[int, int] = {}
    for turn in itertools.count():
        steps = [turn + lead for lead in ahead]
        held = [None if number in saved else request for number, request in enumerate(requests)]
        for number, answer in enumerate(agree_together(ranks, held, steps)):
            if answer is not None:
                saved.setdefault(number, steps[number])
        if len(saved) == 3 or turn > 4:
            break
    holders = [lead for lead, request in zip(ahead, requests, strict=True) if request is not None]
    if not holders:
        assert not saved
    elif max(holders) == max(ahead):
        assert len(set(saved.values())) == 1


def test_an_order_reaches_the_launcher_and_is_answered_again_by_itself(daemon: Daemon, job: Job) -> None:
    launcher = job.launcher()
    assert launcher.wait(0.0) is None
    (hello,) = daemon.accept()
    assert (hello["kind"], hello["rank"]) == ("launcher", -1)
    said = SaidOrder(id="i1/remap", kind="remap", cards={3: "n1/card7"})
    daemon.say(Welcome(node="n0"), said)
    assert launcher.wait(10.0) == Order("i1/remap", "remap", {3: "n1/card7"})
    launcher.acted(Order("i1/remap", "remap", {}), why="no such card")
    answer = {"t": "acted", "order": "i1/remap", "ok": False, "why": "no such card"}
    assert daemon.hear() == [answer]
    daemon.say(said)
    assert launcher.wait(0.2) is None
    assert daemon.hear() == [answer]


def test_importing_it_imports_nothing_of_the_daemon(checkout: Path) -> None:
    code = "import sys, client; print([name for name in sys.modules if name.startswith(('supernoded', 'asyncio', 'msgspec'))])"
    path = {**os.environ, "PYTHONPATH": str(checkout / "supernoded/job")}
    ran = subprocess.run([sys.executable, "-S", "-c", code], env=path, cwd="/", capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


class Folders:
    """Tiers with steps in them."""

    def __init__(self, root: Path) -> None:
        self.shared, self.durable = root / "shm", root / "disk"
        for tier in (self.shared, self.durable):
            tier.mkdir()
        (self.durable / ".supernoded-vault").touch()

    def make_rank(self, monkeypatch: pytest.MonkeyPatch, rank: int, world: int = 1, run: str = "", *, durable: bool = False) -> Job:
        tiers = [self.durable] if durable else [self.shared, self.durable]
        monkeypatch.setenv("SUPERNODED_VAULT", os.pathsep.join(map(str, tiers)))
        monkeypatch.setenv("SUPERNODED_JOB_RUN", run)
        return connect("train", rank, world=world, path=str(self.shared / "none"))

    def seal(self, step: int, world: int = 1) -> None:
        """What the vault does on the durable tier."""
        folder = self.durable / f"train/step-{step:012d}"
        parts = {}
        for rank in range(world):
            home = folder / f"rank-{rank:05d}"
            sums = {
                path.name: {"size": path.stat().st_size, "sha256": sha256(path.read_bytes()).hexdigest()}
                for path in home.iterdir()
                if path.name != "rank.json"
            }
            (home / "sums.json").write_text(json.dumps({"v": 1, "pack": "none", "files": sums}))
            parts[str(rank)] = sha256((home / "sums.json").read_bytes()).hexdigest()
        (folder / "whole.json").write_text(json.dumps({"v": 1, "step": step, "world": world, "run": "", "parts": parts}))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def home(folders: Folders, step: int, rank: int = 0) -> Path:
    return folders.shared / f"train/step-{step:012d}/rank-{rank:05d}"


def test_parts_are_written_as_they_are_and_become_whole_in_one_rename(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    seen: list[bool] = []

    def look(file: Any) -> None:
        file.write(b"by a function")
        seen.append(home(folders, 3).exists())

    strided = memoryview(bytes(range(20)))[::2]
    assert job.save(3, {"a": bytearray(b"12345"), "empty": b"", "strided": strided, "function": look}), job.trouble
    found = job.restore()
    assert found is not None
    step, parts = found
    assert seen == [False]
    assert step == 3
    read = {name: path.read_bytes() for name, path in parts.items()}
    assert read == {"a": b"12345", "empty": b"", "strided": strided.tobytes(), "function": b"by a function"}
    card = json.loads((home(folders, 3) / "rank.json").read_text())
    assert {key: card[key] for key in ("v", "job", "rank", "world", "step", "files")} == {
        "v": 1, "job": "train", "rank": 0, "world": 1, "step": 3, "files": {"a": 5, "empty": 0, "strided": 10, "function": 13},
    }  # fmt: skip


def test_the_same_step_saved_again_takes_the_place_of_the_first(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {"a": b"first"})
    assert job.save(3, {"a": b"second"})
    assert (home(folders, 3) / "a").read_bytes() == b"second"
    assert [path.name for path in home(folders, 3).parent.iterdir()] == ["rank-00000"]


@pytest.mark.parametrize("name", ["..", "a/b", "rank.json", "sums.json", ".hidden", "a.tmp", "a.zst", ""])
def test_a_part_that_can_be_no_file_of_a_checkpoint_is_refused(name: str, folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {name: b""}) is False
    assert "is no name of a part" in job.trouble
    assert job.restore() is None


def test_what_does_not_fit_is_said_before_it_is_written(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    (folders.shared / "room.json").write_text('{"limit": 9, "used": 5, "room": 4, "text": "two steps are not durable yet"}')
    assert job.save(3, {"a": b"12345"}) is False
    assert "5 bytes do not fit into the 4 that the vault leaves: two steps are not durable yet" in job.trouble
    assert not list(home(folders, 3).parent.iterdir())


def test_a_function_of_the_callers_that_fails_is_the_callers_and_leaves_nothing(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)

    def fail(file: Any) -> None:
        file.write(b"half")
        raise KeyError("optimizer")

    with pytest.raises(KeyError):
        job.save(3, {"a": fail})
    assert not list(home(folders, 3).parent.iterdir())


def test_without_a_folder_nothing_is_saved_and_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SUPERNODED_VAULT", raising=False)
    monkeypatch.setattr(client, "SHARED", str(tmp_path / "none"))
    job = connect("train", 0, path=str(tmp_path / "none.sock"))
    assert job.save(3, {"a": b""}) is False
    assert "SUPERNODED_VAULT" in job.trouble
    assert job.restore() is None


def test_a_step_that_misses_a_rank_or_mixes_two_starts_is_passed_over(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    for rank in range(2):
        assert folders.make_rank(monkeypatch, rank, 2).save(3, {"a": b"old"})
    assert folders.make_rank(monkeypatch, 0, 2).save(4, {"a": b"lone"})
    assert folders.make_rank(monkeypatch, 0, 2, "one").save(5, {"a": b"of one start"})
    assert folders.make_rank(monkeypatch, 1, 2, "two").save(5, {"a": b"of another"})
    found = folders.make_rank(monkeypatch, 0, 2).restore()
    assert found is not None
    assert found[0] == 3


@pytest.mark.parametrize("damage", ["short", "hash", "card", "gone"])
def test_a_damaged_step_is_passed_over_for_an_older_one(damage: str, folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    job = folders.make_rank(monkeypatch, 0)
    for step in (3, 4):
        assert job.save(step, {"a": b"12345"})
    place = home(folders, 4)
    if damage == "hash":
        (place / "sums.json").write_text(json.dumps({"v": 1, "files": {"a": {"size": 5, "sha256": "0" * 64}}}))
    elif damage == "gone":
        (place / "a").unlink()
    else:
        (place / ("a" if damage == "short" else "rank.json")).write_text("[1")
    found = job.restore()
    assert found is not None
    assert found[0] == 3
    assert "step 4 is passed over" in job.trouble


def test_the_durable_tier_counts_once_its_manifest_is_whole_and_it_is_mounted(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = folders.make_rank(monkeypatch, 0, durable=True)
    assert writer.save(9, {"a": b"12345"})
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {"a": b"near"})
    newest = job.restore()
    assert newest is not None
    assert newest[0] == 3, "no manifest yet"
    folders.seal(9)
    newest = job.restore()
    assert newest is not None
    assert (newest[0], newest[1]["a"].read_bytes()) == (9, b"12345")
    (folders.durable / ".supernoded-vault").unlink()
    newest = job.restore()
    assert newest is not None
    assert newest[0] == 3
    assert "not mounted" in job.trouble


def test_of_one_step_the_nearest_tier_is_read(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders.make_rank(monkeypatch, 0, durable=True).save(3, {"a": b"12345"})
    folders.seal(3)
    job = folders.make_rank(monkeypatch, 0)
    assert job.save(3, {"a": b"12345"})
    found = job.restore()
    assert found is not None
    assert found[1]["a"].parent == home(folders, 3)


def test_ranks_agree_on_the_newest_step_that_all_have(folders: Folders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two nodes with shared memory of their own."""
    other = tmp_path / "other"
    other.mkdir()
    there = Folders(other)
    ranks = [folders.make_rank(monkeypatch, 0), there.make_rank(monkeypatch, 0)]
    for rank, steps in zip(ranks, ((2, 3, 5), (2, 3, 4)), strict=True):
        for step in steps:
            assert rank.save(step, {"a": b"x"})
    barrier, given, found = threading.Barrier(2), dict[int, int](), dict[int, Any]()

    def restore(number: int) -> None:
        def reduce(value: int) -> int:
            given[number] = value
            barrier.wait(10)
            largest = max(given.values())
            barrier.wait(10)
            return largest

        found[number] = ranks[number].restore(reduce)

    threads = [threading.Thread(target=restore, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number][0] for number in range(2)] == [3, 3]


@given(
    st.dictionaries(
        st.sampled_from(["rank", "world", "step", "taken", "files", "run", "local"]),
        st.none() | st.text() | st.integers() | st.lists(st.integers()),
    )
)
def test_no_card_raises(card: dict[str, Any]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "rank-00000"
        place.mkdir()
        (place / "rank.json").write_text(json.dumps(card))
        assert client._choose([(Path(folder), False)], 0) is None or {"rank", "world", "taken", "files"} <= card.keys()
