"""The page of faults is what the catalogue says."""

from __future__ import annotations

from pathlib import Path

from sim_hardware.drives.describing import describe_faults
from sim_hardware.faults.catalogue import CATALOGUE


def test_the_page_of_faults_is_true(checkout: Path) -> None:
    written = (checkout / "docs" / "faults.md").read_text(encoding="utf-8")

    assert written == describe_faults(), "run: python -m sim_hardware.drives.describing docs/faults.md"


def test_the_page_has_every_kind_and_says_what_may_be_given() -> None:
    page = describe_faults()

    assert [kind for kind in CATALOGUE if f"| `{kind}` | " not in page] == []
    assert "| `power.input_sag` | `depth` | `1.0` | a number from 0.02 to 1 | share of its voltage that it loses |" in page
    assert '| `card.swap` | `serial` | `""` | a text | ' in page


def test_the_page_says_which_faults_no_device_shows() -> None:
    lines = describe_faults().splitlines()

    assert [line.split("`")[1] for line in lines if line.endswith("| no device shows it |")] == [
        "job.save_fails",
        "pool.hot_block",
        "pool.not_atomic",
        "pool.worn_block",
    ]
