"""The numbers of the founding documents, written down a second time, against the defaults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from supernoded.errors import SettingsError
from supernoded.limits import Limits, list_limits
from supernoded.settings import Settings, parse_settings, read_settings
from supernoded.tables import Row

NUMBERS: list[tuple[str, str, object]] = [
    ("L1", "link.poll_s", 5),
    ("L2", "link.ber_alarm", 1e-12),
    ("L3", "link.ber_lead_s", 3 * 60),
    ("L6", "link.unseated_percent", 90),
    ("L7", "link.bend_radius_mm", 30),
    ("L12", "link.backplane_gbps", 200),
    ("L12", "link.roce_gbps", 200),
    ("L13", "link.memory_to_memory_us", 1.7),
    ("L16", "link.kernel_lines", 50),
    ("R7", "ring.star_latency_us", 18),
    ("R8", "ring.hop_good_us", 2.1),
    ("R8", "ring.hop_bad_us", 3),
    ("R8", "ring.backplane_cards", 8),
    ("R9", "ring.baseline_cards", 8192),
    ("R9", "ring.baseline_nodes", 1024),
    ("R9", "ring.baseline_gb", 1),
    ("R9", "ring.baseline_ring_ms", 89),
    ("R9", "ring.baseline_allreduce_ms", 312),
    ("R10", "ring.comm_share_bad_percent", 28.3),
    ("R10", "ring.comm_share_good_percent", 6.1),
    ("R13", "ring.group_nodes", 8),
    ("N2", "network.fat_tree_hops", 3),
    ("N2", "network.jitter_us", 0.3),
    ("N2", "network.jitter_bad_us", 1.8),
    ("N3", "network.switch_models", ("CloudEngine 6881-48S6CQ",)),
    ("N4", "network.pfc_priority", 4),
    ("N4", "network.pfc_threshold_bytes", 120000),
    ("N5", "network.ecn_threshold_bytes", 110000),
    ("N5", "network.ecn_below_pfc_bytes", 10000),
    ("N7", "network.mtu_bytes", 9000),
    ("N10", "network.connect_timeout_s", 120),
    ("N10", "network.exec_timeout_s", 600),
    ("N11", "network.oversubscription", 4),
    ("T1", "card.power_w", 600),
    ("T2", "card.die_sensors", 128),
    ("T2", "card.die_period_ms", 2),
    ("T2", "card.die_accuracy_c", 0.1),
    ("T3", "card.airflow_sensors", 8),
    ("T3", "card.fans", 8),
    ("T5", "coolant.supply_c", 22),
    ("T5", "coolant.band_c", 0.3),
    ("T6", "coolant.swing_c", 0.5),
    ("T7", "coolant.steady_c", 0.15),
    ("T8", "coolant.pipe_materials", ("316L",)),
    ("P1", "power.site_cards", 8192),
    ("P1", "power.site_peak_mw", 4.9),
    ("P1", "power.harmful_sag_s", 0.5),
    ("P2", "power.ups_share_percent", 50),
    ("P3", "power.sag_percent", 10),
    ("P4", "power.shed_ms", 3),
    ("P6", "power.lost_steps", 0),
    ("P6", "power.survived_sag_s", 1.2),
    ("C2", "checkpoint.fast_folder", "/dev/shm"),
    ("C2", "checkpoint.durable_folder", "/distributed_storage"),
    ("C11", "checkpoint.compress", "zstd"),
    ("C12", "checkpoint.compress_cpu_percent", 15),
    ("C12", "checkpoint.compress_ratio", 3.2),
    ("C13", "checkpoint.compress_denied", ("lz4",)),
    ("C14", "checkpoint.load_s", 47),
    ("C14", "checkpoint.load_slow_s", 21 * 60),
    ("D1", "pool.hbm_gb_per_card", 96),
    ("D1", "pool.hbm_gb", 768),
    ("D1", "pool.ddr_tb", 1),
    ("D1", "pool.pmem_tb", 2),
    ("D3", "pool.feed_forward_steps", 2),
    ("D4", "pool.probe_gb", 128),
    ("D4", "pool.read_good_tbps", 1.8),
    ("D4", "pool.read_best_tbps", 2.1),
    ("D5", "pool.read_bad_tbps", 1.5),
    ("D5", "pool.unmounted_percent", 90),
    ("D6", "pool.pmem_device", "/dev/pmem0"),
    ("D6", "pool.pmem_folder", "/mnt/dsm_pmem"),
    ("D8", "pool.life_dwpd", 60),
    ("D9", "pool.readonly_dwpd", 45),
    ("D16", "pool.process_memory_percent", 90),
    ("S3", "scheduler.baseline_before_percent", 36.2),
    ("S3", "scheduler.baseline_percent", 68.9),
    ("S3", "scheduler.baseline_before_tflops", 124),
    ("S3", "scheduler.baseline_tflops", 227),
    ("S4", "card.l2_mb", 64),
    ("S4", "card.l2_weights_mb", 20),
    ("S4", "card.l2_activations_mb", 16),
    ("S4", "card.l2_general_mb", 28),
    ("S5", "scheduler.validation_steps", 100),
    ("S5", "scheduler.utilisation_percent", 65),
    ("S5", "scheduler.utilisation_band_percent", 3),
    ("S5", "scheduler.swing_percent", 8),
    ("S5", "scheduler.swing_without_percent", 25),
    ("S6", "scheduler.utilisation_bad_percent", 60),
    ("S6", "scheduler.prefetch_depth", 5),
    ("S7", "scheduler.stale_percent", 30),
    ("S7", "scheduler.stale_slower_percent", 40),
    ("S8", "scheduler.recompiled_percent", 67),
    ("S8", "scheduler.atc_framework", 5),
    ("M4", "job.utilisation_low_percent", 40),
    ("M4", "job.data_bound_percent", 30),
    ("M4", "job.comm_share_percent", 25),
    ("M4", "job.scaling_percent", 70),
    ("M5", "job.stage_variance_percent", 5),
    ("X2", "job.tensor_parallel", 8),
    ("X2", "job.pipeline_parallel", 16),
    ("X2", "job.data_parallel", 4),
    ("X7", "card.per_node", 8),
    ("E4", "job.world_size", 512),
    ("E4", "job.ranks_per_node", 8),
    ("E4", "job.nodes", 64),
    ("E4", "job.master_port", 29500),
]

LEFT_OUT: dict[str, str] = {
    "no number of its own": "L4 L5 L8 L9 L10 L14 L15 R1 R2 R3 R6 R12 R14 N8 N9 N12 N14 T4 T9 P5 P7 C1 C3 C4 C5 C6 C7 C8 C9 C10 C15 C16 "
    "D2 D7 D10 D11 D13 D14 D15 H1 H2 H3 H4 H5 H7 H8 H9 H10 H11 S1 M1 M2 M3 E1 E2 E3 E5 E7 E8 E9 X1 X8",
    "numbers of an example that is printed, not a limit": "R4 R5 R15 H6",
    "the wiring itself, which the topology fixes": "L11 N1",
    "a claim of the authors that nothing can be judged by": "R11 N6 N13 D12 D17 D18 S2 S9 M6 M7",
    "versions, which are data of the compatibility matrix": "E6",
    "sample code that is not followed, or a plan that contradicts itself": "X3 X4 X5",
    "the same number as M5": "X6",
}

COUNTS = {"L": 16, "R": 15, "N": 14, "T": 9, "P": 7, "C": 16, "D": 18, "H": 11, "S": 9, "M": 7, "E": 9, "X": 8}


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    return {row.key.removeprefix("limits."): row for row in list_limits()}


@pytest.mark.parametrize(("source", "key", "number"), NUMBERS)
def test_default_is_the_number_of_its_source(rows: dict[str, Row], source: str, key: str, number: object) -> None:
    assert (rows[key].source, rows[key].value) == (source, number)


def test_every_limit_is_in_the_table_or_ours(rows: dict[str, Row]) -> None:
    unlisted = rows.keys() - {key for _, key, _ in NUMBERS}

    assert {key for key in unlisted if not rows[key].source.startswith("ours, after ")} == set()


def test_every_id_of_the_documents_is_a_setting_or_left_out_for_a_reason() -> None:
    every = {f"{family}{number}" for family, count in COUNTS.items() for number in range(1, count + 1)}
    left_out = [source for ids in LEFT_OUT.values() for source in ids.split()]
    settings = {source for source, _, _ in NUMBERS}

    assert settings | set(left_out) == every
    assert not settings & set(left_out)
    assert len(left_out) == len(set(left_out))


def test_every_limit_says_what_it_means(rows: dict[str, Row]) -> None:
    assert [row.key for row in rows.values() if not row.meaning or not row.source] == []


def test_relations_that_the_documents_state(rows: dict[str, Row]) -> None:
    limits = Limits()

    assert limits.network.pfc_threshold_bytes - limits.network.ecn_threshold_bytes == limits.network.ecn_below_pfc_bytes
    assert limits.pool.hbm_gb == limits.pool.hbm_gb_per_card * limits.card.per_node
    assert limits.pool.readonly_dwpd / limits.pool.life_dwpd == 0.75  # Q11
    assert list(limits.card.conflicts()) == list(limits.job.conflicts()) == []


def test_a_limit_is_overridden_by_the_file(tmp_path: Path) -> None:
    file = tmp_path / "supernoded.toml"
    file.write_text('node = "n0"\n[limits.link]\nber_alarm = 1e-11\n')

    limits = read_settings(file, {}).limits

    assert limits.link.ber_alarm == 1e-11
    assert limits.link.poll_s == 5


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ("[limits.link]\nber_alarm = 0", "limits.link.ber_alarm = 0", "above 0"),
        ("[limits.link]\npoll_s = nan", "limits.link.poll_s = nan", "from 0.1 to 3600 s"),
        ("[limits.power]\nsag_percent = 130", "limits.power.sag_percent = 130", "at most 100 %"),
        ("[limits.link]\nber_lead_s = inf", "limits.link.ber_lead_s = inf", "finite"),
        ("[limits.ring]\nhop_good_us = 5", "limits.ring.hop_good_us = 5", "hop_bad_us = 3"),
        ("[limits.network]\necn_threshold_bytes = 130000", "limits.network.ecn_threshold_bytes = 130000", "pfc_threshold_bytes = 120000"),
        ("[limits.coolant]\nsteady_c = 0.4", "limits.coolant.steady_c = 0.4", "band_c = 0.3"),
        ("[limits.pool]\nreadonly_dwpd = 60", "limits.pool.readonly_dwpd = 60", "life_dwpd = 60"),
        ("[limits.pool]\nread_good_tbps = 1.0", "limits.pool.read_good_tbps = 1.0", "read_bad_tbps = 1.5"),
        ("[limits.card]\nl2_mb = 65", "limits.card.l2_mb = 65", "add up to 64 MB"),
        ("[limits.job]\nworld_size = 511", "limits.job.world_size = 511", "is 512"),
        ('[limits.checkpoint]\ncompress = "lz4"', 'limits.checkpoint.compress = "lz4"', "compress_denied"),
        ("[limits.links]\npoll_s = 5", "limits.links", "did you mean link?"),
    ],
)
def test_an_impossible_limit_is_refused_by_name(tmp_path: Path, text: str, key: str, says: str) -> None:
    file = tmp_path / "supernoded.toml"
    file.write_text(f'node = "n0"\n{text}\n')

    with pytest.raises(SettingsError) as refused:
        read_settings(file, {})

    assert key in str(refused.value)
    assert says in str(refused.value)


def test_every_default_passes_its_own_bounds(rows: dict[str, Row]) -> None:
    groups: dict[str, list[str]] = {}
    for key, row in rows.items():
        group, _, name = key.partition(".")
        written = str(list(row.value)) if isinstance(row.value, tuple) else repr(row.value)
        groups.setdefault(group, []).append(f"{name} = {written}")
    text = "".join(f"[limits.{group}]\n" + "\n".join(lines) + "\n" for group, lines in groups.items())

    found = parse_settings(f'node = "n0"\n{text}', "all", Path("/"), {})

    assert isinstance(found, Settings), [str(problem) for problem in found]
    assert found.limits == Limits()


def test_every_cited_id_stands_in_sources(checkout: Path) -> None:
    described = set(re.findall(r"^\| ([A-Z]\d{1,2}) \|", (checkout / "docs" / "sources.md").read_text(encoding="utf-8"), re.MULTILINE))
    cited: dict[str, str] = {}
    for folder in ("supernoded", "plugins", "sim_hardware"):
        for file in sorted((checkout / folder).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            groups = re.findall(r"\(([A-Z]\d{1,2}(?:, [A-Z]\d{1,2})*)\)", text) + re.findall(
                r'source="(?:ours, after )?([A-Z]\d{1,2})"', text
            )
            cited.update({source: str(file) for group in groups for source in group.split(", ")})

    assert len(cited) > 30
    assert {source: file for source, file in cited.items() if source not in described} == {}
