from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from supernoded.errors import VaultError
from supernoded.job.vault.dsm import list_published, name_snapshot, publish, remove_snapshot, take_snapshot, withdraw_old
from supernoded.job.vault.files import SystemFiles
from supernoded.job.vault.flushing import Pen
from supernoded.job.vault.names import MARKER
from supernoded.job.vault.pool import SystemPool, Told
from supernoded.settings.vault import Dsm

PEN = Pen(node="n0", pid=1, level=None, headroom=0)


class Tools:
    """Answers in turn, and remembers what was asked. `shown` is what the kernel shows each time; None = no such file."""

    def __init__(self, *answers: Told | VaultError, shown: Sequence[str | OSError | None] = (None, None)) -> None:
        self.answers, self.asked, self.shown = list(answers), list[tuple[str, ...]](), list(shown)

    def read_atomic(self, path: Path) -> str | None:
        assert path == Path("/sys/class/dsm/dsm0/snapshot_atomic")
        shown = self.shown.pop(0)
        if isinstance(shown, OSError):
            raise shown
        return shown

    async def run(self, argv: Sequence[str], seconds: float) -> Told:
        self.asked.append(tuple(argv))
        answer = self.answers.pop(0)
        if isinstance(answer, VaultError):
            raise answer
        return answer


SYNC, TAKE, VERIFY = Told(0, "8 cards synchronised"), Told(0, "Snapshot done"), Told(0, "checksum OK\n")


async def test_sync_take_verify_publish_in_this_order(tmp_path: Path) -> None:
    tools = Tools(SYNC, TAKE, VERIFY)
    (tmp_path / MARKER).touch()

    snapshot = await take_snapshot(tools, Dsm(), "ckpt_a", 7, 5.0)
    path = publish(SystemFiles(), tmp_path, snapshot, PEN)

    assert tools.asked == [
        ("dsm_sync_all",),
        ("dsm_snapshot", "--name", "ckpt_a", "--atomic", "--compress", "zstd"),
        ("dsm_snapshot", "--verify", "ckpt_a"),
    ]
    assert json.loads(path.read_text()) == {"v": 1, "name": "ckpt_a", "step": 7, "taken": 5.0, "verified": "checksum OK", "job": ""}


@pytest.mark.parametrize(
    "words",
    [
        "dsm_snapshot: warning: dsm_snapshot_atomic is 0, --atomic has no effect",
        "Snapshot a done (non-atomic)",
        "dsm_snapshot_atomic=off",
        "warning: snapshot is NOT ATOMIC",
    ],
)
async def test_a_snapshot_that_is_not_atomic_is_refused_though_the_tool_goes_on(words: str) -> None:
    tools = Tools(SYNC, Told(0, f"Snapshot a done\n{words}\n"))

    with pytest.raises(VaultError, match=r"is refused, it is not atomic: .*switch the kernel parameter dsm_snapshot_atomic on"):
        await take_snapshot(tools, Dsm(), "a", 7, 5.0)
    assert len(tools.asked) == 2  # it is not verified, and so never published


@pytest.mark.parametrize("words", ["dsm_snapshot_atomic is 1", "Snapshot a done, atomic", "dsm_snapshot_atomic = 10"])
async def test_an_atomic_one_is_taken(words: str) -> None:
    assert (await take_snapshot(Tools(SYNC, Told(0, words), VERIFY), Dsm(), "a", 7, 5.0)).name == "a"


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([Told(1, "pool is busy")], "the sync of the cards' memory failed: dsm_sync_all ended with 1 and said pool is busy"),
        ([SYNC, Told(1, "")], "the snapshot failed: dsm_snapshot ended with 1 and said nothing"),
        ([SYNC, TAKE, Told(1, "checksum mismatch")], "the verification failed: dsm_snapshot ended with 1 and said checksum mismatch"),
        ([VaultError("x did not end within 5 s")], "the sync of the cards' memory failed: x did not end within 5 s"),
    ],
)
async def test_the_step_that_failed_is_named_and_the_rest_is_not_tried(answers: list[Told | VaultError], words: str) -> None:
    tools = Tools(*answers)

    with pytest.raises(VaultError, match=words):
        await take_snapshot(tools, Dsm(), "a", 7, 5.0)
    assert tools.answers == []


async def test_nothing_is_published_into_a_folder_that_is_not_mounted(tmp_path: Path) -> None:
    snapshot = await take_snapshot(Tools(SYNC, TAKE, VERIFY), Dsm(), "a", 7, 5.0)

    with pytest.raises(VaultError, match="whole and not published"):
        publish(SystemFiles(), tmp_path, snapshot, PEN)
    assert list(tmp_path.iterdir()) == []


def test_names_differ_within_a_day() -> None:
    assert name_snapshot(1200, 0.0) == "ckpt_19700101T000000_step1200"
    assert name_snapshot(1200, 1.0) != name_snapshot(1200, 0.0)


OFF = (OSError(5, "Input/output error"), "0\n", "", "N", "2", "\x00\ufffd", "off")


@pytest.mark.parametrize("shown", OFF, ids=ascii)
async def test_where_the_kernel_does_not_say_on_no_tool_is_even_asked(shown: str | OSError) -> None:
    tools = Tools(SYNC, TAKE, VERIFY, shown=[shown])

    with pytest.raises(VaultError, match=r"the snapshot a is refused, .*snapshot_atomic .*\(C9\)"):
        await take_snapshot(tools, Dsm(), "a", 7, 5.0)
    assert tools.asked == []


async def test_a_parameter_that_is_switched_off_meanwhile_is_seen_and_nothing_is_verified() -> None:
    tools = Tools(SYNC, TAKE, VERIFY, shown=["1\n", "0\n"])

    with pytest.raises(VaultError, match="it would not be atomic"):
        await take_snapshot(tools, Dsm(), "a", 7, 5.0)
    assert len(tools.asked) == 2


@pytest.mark.parametrize("words", ["", "\n", "OK", "checksum mismatch", "\ufffd\ufffd"])
async def test_what_does_not_say_that_it_is_whole_is_not_verified(words: str) -> None:
    with pytest.raises(
        VaultError, match=r"the verification failed: dsm_snapshot said .*not 'checksum OK' .* so the snapshot a is not verified"
    ):
        await take_snapshot(Tools(SYNC, TAKE, Told(0, words), shown=["1", "1"]), Dsm(), "a", 7, 5.0)


async def test_a_tool_that_says_nothing_counts_only_where_the_kernel_says_that_it_is_atomic() -> None:
    assert (await take_snapshot(Tools(SYNC, Told(0, ""), VERIFY, shown=["Y", "on"]), Dsm(), "a", 7, 5.0)).name == "a"
    with pytest.raises(VaultError, match=r"whether it is atomic is not known: its tool says nothing, and there is no /sys/class/dsm"):
        await take_snapshot(Tools(SYNC, Told(0, " \n"), VERIFY), Dsm(), "a", 7, 5.0)


async def test_the_newest_are_kept_and_of_an_older_one_the_manifest_goes_first(tmp_path: Path) -> None:
    files, root = SystemFiles(), tmp_path
    (root / MARKER).touch()
    for step in (1, 2, 3):
        publish(files, root, await take_snapshot(Tools(SYNC, TAKE, VERIFY), Dsm(), f"s{step}", step, float(step)), PEN)
    (root / "snapshots" / "s9.json").write_text("garbage")

    assert withdraw_old(files, root, keep=2) == ["s1"]
    assert [one.name for one in list_published(files, root)] == ["s3", "s2"]
    tools = Tools(Told(1, "busy"))
    with pytest.raises(VaultError, match="the removal of the old snapshot s1 failed: dsm_snapshot ended with 1 and said busy"):
        await remove_snapshot(tools, Dsm(), "s1")
    await remove_snapshot(tools, Dsm(remove=()), "s1")
    assert tools.asked == [("dsm_snapshot", "--delete", "s1")]


async def test_real_tools_end_or_are_ended_with_all_that_they_started() -> None:
    pool = SystemPool()
    assert (await pool.run([sys.executable, "-c", "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"], 30.0)).code == 3
    with pytest.raises(VaultError, match=r"did not end within 0\.2 s"):
        await pool.run(["sh", "-c", "sleep 1000 & sleep 1000"], 0.2)
    with pytest.raises(VaultError, match="cannot be run: No such file"):
        await pool.run(["/no/such/tool"], 1.0)


def test_the_kernel_shows_its_parameter_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "atomic").write_text("1\n")
    assert SystemPool().read_atomic(tmp_path / "atomic") == "1\n"
    assert SystemPool().read_atomic(tmp_path / "none") is None
    with pytest.raises(OSError, match="directory"):
        SystemPool().read_atomic(tmp_path)
