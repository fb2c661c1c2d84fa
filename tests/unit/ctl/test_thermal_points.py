from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from supernoded.ctl.thermal_points import Moment, Point, Record, render_record
from supernoded.errors import AdminError
from supernoded_thermal.control.commissioning import parse_commissioning


def make_record(folder: Path, points: int = 3) -> Record:
    record = Record(folder / "cdu0.toml", cdu="cdu/0", recorded=1_800_000_000.0)
    record.points += [Point(20.0 + 20 * i, 30.0 - 4 * i, 40.0, 12.0, 800.0, steady=i != 1) for i in range(points)]
    return record


def test_the_file_is_what_the_policy_reads(tmp_path: Path) -> None:
    record = make_record(tmp_path)
    record.silence_s, record.fallback_c = 14.5, 20.0
    read = parse_commissioning(render_record(record).encode(), "x")
    assert (read.cdu, read.recorded, read.silence_s, read.fallback_c) == ("cdu/0", "2027-01-15T08:00:00Z", 14.5, 20.0)
    assert [(point.valve, point.supply, point.returned, point.primary, point.flow) for point in read.points] == [
        (20.0, 30.0, 40.0, 12.0, 800.0),
        (40.0, 26.0, 40.0, 12.0, 800.0),
        (60.0, 22.0, 40.0, 12.0, 800.0),
    ]


def test_the_course_is_told_second_by_second_whatever_the_looks_took(tmp_path: Path) -> None:
    record = make_record(tmp_path)
    looks = ((100.0, 30.0), (101.02, 30.0), (102.04, 50.0), (105.1, 50.0))
    record.course += [Moment(at, told, told, 20.0 + at, 40.0) for at, told in looks]
    trace = parse_commissioning(render_record(record).encode(), "x").trace
    assert trace is not None
    assert trace.is_whole
    assert trace.told == (30.0, 30.0, 30.0, 50.0, 50.0, 50.0, 50.0)
    assert trace.supply == (120.0, 120.0, 121.02, 122.04, 122.04, 122.04, 125.1)


def test_nothing_is_made_up_for_a_gap_in_the_course(tmp_path: Path) -> None:
    record = make_record(tmp_path)
    record.course += [Moment(at, 30.0, 30.0, at, 40.0) for at in (1.0, 2.0, 103.0, 104.0, 105.0)]
    trace = parse_commissioning(render_record(record).encode(), "x").trace
    assert trace is not None
    assert trace.supply == (103.0, 104.0, 105.0)


def test_what_was_not_measured_is_left_out_and_what_still_moved_is_marked(tmp_path: Path) -> None:
    text = render_record(make_record(tmp_path))
    assert set(tomllib.loads(text)) == {"cdu", "recorded", "points"}
    assert [line for line in text.splitlines() if line.startswith("[[")] == [
        "[[points]]",
        "[[points]]  # it was not steady yet",
        "[[points]]",
    ]


def test_it_is_partial_until_it_is_finished_and_then_replaces_the_older_one(tmp_path: Path) -> None:
    record = make_record(tmp_path, 1)
    record.path.write_text("older")
    record.save()
    assert record.path.read_text() == "older"
    assert len(tomllib.loads((tmp_path / "cdu0.toml.partial").read_text())["points"]) == 1
    record.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["cdu0.toml"]
    assert "older" not in record.path.read_text()


def test_a_folder_that_is_not_there_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    record = make_record(tmp_path / "nowhere")
    with pytest.raises(AdminError, match=r"nowhere/cdu0\.toml\.partial cannot be written: No such file or directory; name another"):
        record.save()
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_a_folder_loses_no_point(tmp_path: Path) -> None:
    record = make_record(tmp_path)
    record.path.mkdir()
    with pytest.raises(AdminError, match=r"the record is whole in .*cdu0\.toml\.partial"):
        record.finish()
    assert len(tomllib.loads(record.partial.read_text())["points"]) == 3
