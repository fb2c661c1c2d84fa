"""`supernodectl replay`: recorded input through the daemon's own rules."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from supernoded.ctl.main import program

HEALTHY = """\
# a port that is well
{device}/ports/1/state\t4: ACTIVE
{device}/ports/1/phys_state\t5: LinkUp
{device}/ports/1/rate\t200 Gb/sec (4X HDR)
{device}/ports/1/counters/symbol_error\t{errors}
{device}/ports/1/counters/port_rcv_data\t{words}
{device}/ports/1/counters/link_downed\t{downed}
"""


def snapshot(folder: Path, name: str, errors: int, seconds: float, downed: str = "0", device: str = "mlx5_0") -> Path:
    path = folder / name
    path.write_text(HEALTHY.format(device=device, errors=errors, words=int(seconds * 100e9 / 32), downed=downed))
    return path


def replay(*arguments: str | Path) -> tuple[int, list[dict[str, Any]], str]:
    result = CliRunner().invoke(program, ["replay", *map(str, arguments)])
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def of_type(lines: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


def test_a_healthy_node_gives_readings_and_nothing_else(tmp_path: Path) -> None:
    files = [snapshot(tmp_path, f"{n}.tsv", 0, n * 5.0) for n in range(4)]
    code, lines, _ = replay("--as", "sysfs-infiniband", *files)
    assert code == 0
    assert {line["type"] for line in lines} == {"reading"}
    assert sorted({line["at"] for line in lines}) == [0.0, 5.0, 10.0, 15.0]
    assert {line["subject"] for line in lines} == {"n0/nic/mlx5_0/port1"}


def test_a_near_miss_raises_nothing(tmp_path: Path) -> None:
    files = [snapshot(tmp_path, f"{n}.tsv", n // 2, n * 5.0) for n in range(4)]
    code, lines, _ = replay("--as", "sysfs-infiniband", *files)
    assert code == 0
    assert of_type(lines, "event") == []


def test_a_dying_link_gives_event_incident_and_the_planned_action(tmp_path: Path) -> None:
    files = [snapshot(tmp_path, f"{n}.tsv", max(0, n - 1) * 500, n * 5.0) for n in range(4)]
    code, lines, _ = replay("--as", "sysfs-infiniband", *files)
    assert code == 0
    (event,) = of_type(lines, "event")
    assert (event["kind"], event["raised"], event["at"]) == ("link.ber", True, 15.0)  # one burst, at 10 s, is not enough
    assert "1000 symbol errors" in event["text"]
    (incident,) = of_type(lines, "incident")
    assert incident["id"] == event["incident"]
    (action,) = of_type(lines, "action")
    assert action["kind"] == "notify"
    assert "optic" in action["reason"]


def test_a_saturated_counter_is_unknown_with_a_note_and_no_event(tmp_path: Path) -> None:
    code, lines, _ = replay("--as", "sysfs-infiniband", snapshot(tmp_path, "a.tsv", 0, 0.0, downed="255"))
    assert code == 0
    (downed,) = [line for line in lines if line.get("quantity") == "link.downed"]
    assert (downed["value"], downed["state"]) == (None, "unknown")
    assert downed["note"].startswith("saturated, cannot measure")
    assert of_type(lines, "event") == []


def test_one_unreadable_counter_costs_only_itself(tmp_path: Path) -> None:
    _, lines, _ = replay("--as", "sysfs-infiniband", snapshot(tmp_path, "a.tsv", 0, 0.0, downed="N/A (no PMA)"))
    states = {line["quantity"]: line["state"] for line in lines}
    assert states["link.downed"] == "unknown"
    assert [quantity for quantity, state in states.items() if state != "good"] == ["link.downed"]


def test_a_folder_is_read_as_a_tree_with_its_links(tmp_path: Path) -> None:
    port = tmp_path / "devices" / "mlx5_3" / "ports" / "1"
    (port / "counters").mkdir(parents=True)
    (port / "state").write_text("4: ACTIVE\n")
    (port / "counters" / "symbol_error").write_text("7\n")
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "mlx5_3").symlink_to(tmp_path / "devices" / "mlx5_3")
    code, lines, _ = replay("--as", "sysfs-infiniband", tmp_path / "class")
    assert code == 0
    assert {line["quantity"]: line["value"] for line in lines}["link.symbol_errors"] == 7


def test_what_is_no_regular_file_in_a_tree_costs_only_itself(tmp_path: Path) -> None:
    counters = tmp_path / "mlx5_0" / "ports" / "1" / "counters"
    counters.mkdir(parents=True)
    (counters / "symbol_error").write_text("7\n")
    (counters / "link_error_recovery").symlink_to(tmp_path / "nowhere")
    os.mkfifo(counters / "link_downed")
    os.mkfifo(tmp_path / "mlx5_0" / "other")
    code, lines, _ = replay("--as", "sysfs-infiniband", tmp_path)
    assert code == 0
    assert {line["quantity"]: line["state"] for line in lines} == {
        "link.symbol_errors": "good",
        "link.recoveries": "unknown",
        "link.downed": "unknown",
    }
    assert {line["note"] for line in lines} == {"", "unreadable: No such file or directory", "unreadable: not a regular file"}


def test_readings_as_json_lines_keep_their_own_time(tmp_path: Path) -> None:
    told = [
        {"at": 100.0 + n, "subject": "n0/disk", "quantity": "disk.used", "value": 10.0 if n < 3 else 99.9, "unit": "%"} for n in range(6)
    ]
    path = tmp_path / "readings.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in told))
    code, lines, _ = replay("--as", "readings", path)
    assert code == 0
    assert [line["at"] for line in of_type(lines, "reading")] == [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]
    assert [event["kind"] for event in of_type(lines, "event")] == ["host.disk_full"]


def test_a_replay_can_be_replayed(tmp_path: Path) -> None:
    files = [snapshot(tmp_path, f"{n}.tsv", max(0, n - 1) * 500, n * 5.0) for n in range(4)]
    result = CliRunner().invoke(program, ["replay", "--as", "sysfs-infiniband", *map(str, files)])
    again = tmp_path / "again.jsonl"
    again.write_text("\n".join(line for line in result.stdout.splitlines() if '"type":"reading"' in line))
    _, lines, _ = replay("--as", "readings", again)
    assert [json.dumps(line) for line in lines] == [json.dumps(json.loads(line)) for line in result.stdout.splitlines()]


def test_the_times_of_readings_count_and_not_the_order_of_their_files(tmp_path: Path) -> None:
    told = [{"at": 100.0 + n, "subject": "n0/disk", "quantity": "disk.used", "value": 10.0 + n, "unit": "%"} for n in range(6)]
    for name, part in (("late", told[3:]), ("early", told[:3])):
        (tmp_path / name).write_text("\n".join(json.dumps(line) for line in part))
    code, lines, _ = replay(tmp_path / "late", tmp_path / "early", "--as", "readings")
    assert code == 0
    assert [line["at"] for line in of_type(lines, "reading")] == [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]


def test_the_common_options_stand_before_and_after_the_verb(tmp_path: Path) -> None:
    path = snapshot(tmp_path, "a.tsv", 0, 0.0)
    plain = replay(path, "--as", "sysfs-infiniband")
    assert replay("-o", "json", "--as", "sysfs-infiniband", path) == plain
    assert replay(path, "--as", "sysfs-infiniband", "-o", "table", "--socket", tmp_path / "none") == plain


@pytest.mark.parametrize("limit", [0, 3])
def test_output_that_cannot_be_written_ends_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    written: list[object] = []

    def write(line: object) -> None:
        if len(written) == limit:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(line)

    monkeypatch.setattr("supernoded.ctl.replay._print", write)
    code, _, said = replay(snapshot(tmp_path, "a.tsv", 0, 0.0), "--as", "sysfs-infiniband")
    assert code == 1
    assert said == "supernodectl: the output cannot be written: No space left on device; free space, or write elsewhere\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [('{"at": 1}', "line 1"), ("", "no reading in"), ("not json", "line 1")],
)
def test_what_is_no_recording_is_refused_by_name(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "readings.jsonl"
    path.write_text(text)
    code, lines, told = replay("--as", "readings", path)
    assert code == 1
    assert lines == []
    assert says in told
    assert str(path) in told


def test_an_unknown_format_lists_those_there_are(tmp_path: Path) -> None:
    code, _, told = replay("--as", "sysfs", snapshot(tmp_path, "a.tsv", 0, 0.0))
    assert code == 2
    assert "sysfs-infiniband" in told


@pytest.mark.parametrize(
    ("name", "quantity", "saturated"),
    [("gpud_h100_sysfs_flat.tsv", "link.downed", 9), ("gpud_pr943_saturated_counters.txt", "link.downed", 4)],
)
def test_recordings_of_real_nodes(recordings: Path, name: str, quantity: str, saturated: int) -> None:
    code, lines, _ = replay("--as", "sysfs-infiniband", recordings / "ib" / name)
    assert code == 0
    assert of_type(lines, "event") == []
    assert len([line for line in lines if line["note"].startswith("saturated")]) >= saturated
