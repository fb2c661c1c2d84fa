"""Every number of the founding documents as a setting: the default is the document's number and `source` is its id in docs/sources.md.

`[limits.link] ber_alarm = 1e-11` in the settings file overrides one. A source that begins with "ours" marks a number of our own choosing.
Units are in the names, or in the field's `unit` where the name would only repeat it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from supernoded.tables import Conflict, Row, Table, about, list_rows


class LinkLimits(Table, frozen=True, kw_only=True):
    """Links: bit errors, optics, cables."""

    poll_s: Annotated[float, about("time between two readings of a port's error counters", unit="s", source="L1", ge=0.1, le=3600)] = 5.0
    ber_alarm: Annotated[float, about("a post-FEC bit error rate above this alarms", source="L2", gt=0, le=0.5)] = 1e-12
    ber_lead_s: Annotated[float, about("how long before the ring breaks the alarm must stand", unit="s", source="L3", ge=0)] = 180.0
    unseated_percent: Annotated[float, about("ring breaks whose cause is an unseated optic", unit="%", source="L6", ge=0, le=100)] = 90.0
    bend_radius_mm: Annotated[float, about("smallest bend radius of a fibre", unit="mm", source="L7", gt=0)] = 30.0
    kernel_lines: Annotated[int, about("last kernel lines kept as evidence", source="L16", ge=0, le=10000)] = 50
    backplane_gbps: Annotated[float, about("speed of a backplane link", unit="Gb/s", source="L12", gt=0)] = 200.0
    roce_gbps: Annotated[float, about("speed of a RoCE link between nodes", unit="Gb/s", source="L12", gt=0)] = 200.0
    memory_to_memory_us: Annotated[float, about("HBM to HBM over RoCE, one hop", unit="us", source="L13", gt=0)] = 1.7


class RingLimits(Table, frozen=True, kw_only=True):
    """Rings: latency per hop and in the fallback, and what communication costs."""

    star_latency_us: Annotated[float, about("latency seen when the ring has fallen back to a star", unit="us", source="R7", gt=0)] = 18.0
    star_like_us: Annotated[float, about("latency from which a ring is called star-like", unit="us", source="ours, after R7", gt=0)] = 15.0
    hop_good_us: Annotated[float, about("latency per hop up to which a ring is good", unit="us", source="R8", gt=0)] = 2.1
    hop_bad_us: Annotated[float, about("latency per hop above which the cabling is checked", unit="us", source="R8", gt=0)] = 3.0
    backplane_cards: Annotated[int, about("cards of a backplane ring", source="R8", ge=2)] = 8
    baseline_cards: Annotated[int, about("cards of the measured run", source="R9", ge=2)] = 8192
    baseline_nodes: Annotated[int, about("nodes of the measured run", source="R9", ge=2)] = 1024
    baseline_gb: Annotated[float, about("data reduced in the measured run", unit="GB", source="R9", gt=0)] = 1.0
    baseline_ring_ms: Annotated[float, about("its time on the ring; doubted", unit="ms", source="R9", gt=0)] = 89.0
    baseline_allreduce_ms: Annotated[float, about("its time by AllReduce", unit="ms", source="R9", gt=0)] = 312.0
    comm_share_good_percent: Annotated[float, about("communication share on a ring", unit="%", source="R10", ge=0, le=100)] = 6.1
    comm_share_bad_percent: Annotated[float, about("communication share without it", unit="%", source="R10", ge=0, le=100)] = 28.3
    group_nodes: Annotated[int, about("nodes of a data-parallel group that suits the ring", source="R13", ge=1)] = 8

    def conflicts(self) -> Iterable[Conflict]:
        """A good hop is faster than a bad one."""
        if self.hop_good_us > self.hop_bad_us:
            fault = f"is above hop_bad_us = {self.hop_bad_us:g}"
            yield Conflict(key=("hop_good_us",), fault=fault, remedy="set hop_good_us to at most hop_bad_us")


class NetworkLimits(Table, frozen=True, kw_only=True):
    """The network between nodes: switches, congestion, MTU, time-outs of the communication library."""

    fat_tree_hops: Annotated[int, about("hops across the fat tree", source="N2", ge=1)] = 3
    jitter_us: Annotated[float, about("standard deviation of latency on a fat tree", unit="us", source="N2", gt=0)] = 0.3
    jitter_bad_us: Annotated[float, about("the same on spine-leaf", unit="us", source="N2", gt=0)] = 1.8
    switch_models: Annotated[tuple[str, ...], about("switch models allowed between nodes", source="N3")] = ("CloudEngine 6881-48S6CQ",)
    pfc_priority: Annotated[int, about("priority that PFC protects", source="N4", ge=0, le=7)] = 4
    pfc_threshold_bytes: Annotated[int, about("buffer fill at which PFC pauses; not an MTU", unit="B", source="N4", ge=1)] = 120_000
    ecn_threshold_bytes: Annotated[int, about("buffer fill at which ECN marks", unit="B", source="N5", ge=1)] = 110_000
    ecn_below_pfc_bytes: Annotated[int, about("how far ECN stays below PFC", unit="B", source="N5", ge=1)] = 10_000
    mtu_bytes: Annotated[int, about("MTU of the training network", unit="B", source="N7", ge=576, le=65535)] = 9000
    connect_timeout_s: Annotated[int, about("HCCL_CONNECT_TIMEOUT", unit="s", source="N10", ge=1)] = 120
    exec_timeout_s: Annotated[int, about("HCCL_EXEC_TIMEOUT", unit="s", source="N10", ge=1)] = 600
    oversubscription: Annotated[float, about("oversubscription from which preflight warns", source="N11", ge=1)] = 4.0

    def conflicts(self) -> Iterable[Conflict]:
        """ECN marks before PFC pauses."""
        if self.ecn_threshold_bytes >= self.pfc_threshold_bytes:
            fault = f"is not below pfc_threshold_bytes = {self.pfc_threshold_bytes}"
            yield Conflict(key=("ecn_threshold_bytes",), fault=fault, remedy="ECN must mark before PFC pauses: lower it")


class CoolantLimits(Table, frozen=True, kw_only=True):
    """The coolant loop and what hangs in it."""

    supply_c: Annotated[float, about("supply temperature to hold", unit="C", source="T5", ge=5, le=60)] = 22.0
    band_c: Annotated[float, about("deviation that warns", unit="C", source="T5", gt=0, le=20)] = 0.3
    swing_c: Annotated[float, about("peak-to-peak swing that is critical", unit="C", source="T6", gt=0, le=20)] = 0.5
    steady_c: Annotated[float, about("deviation that control must reach in the steady state", unit="C", source="T7", gt=0, le=20)] = 0.15
    pipe_materials: Annotated[tuple[str, ...], about("pipe materials allowed in a loop", source="T8")] = ("316L",)

    def conflicts(self) -> Iterable[Conflict]:
        """What control reaches lies within what warns."""
        if self.steady_c > self.band_c:
            fault = f"is above band_c = {self.band_c:g}"
            yield Conflict(key=("steady_c",), fault=fault, remedy="set steady_c to at most band_c")


class PowerLimits(Table, frozen=True, kw_only=True):
    """Mains, UPS and PDU."""

    site_cards: Annotated[int, about("cards of the reference site", source="P1", ge=1)] = 8192
    site_peak_mw: Annotated[float, about("its peak power", unit="MW", source="P1", gt=0)] = 4.9
    harmful_sag_s: Annotated[float, about("mains sag that stops an unprotected training run", unit="s", source="P1", gt=0)] = 0.5
    ups_share_percent: Annotated[float, about("most load of each UPS of a 2N pair", unit="%", source="P2", gt=0, le=100)] = 50.0
    sag_percent: Annotated[float, about("drop of the input voltage that counts as a sag", unit="%", source="P3", gt=0, le=100)] = 10.0
    shed_ms: Annotated[float, about("time in which a PDU cuts what may be shed", unit="ms", source="P4", gt=0)] = 3.0
    lost_steps: Annotated[int, about("committed steps that a sag may cost", source="P6", ge=0)] = 0
    survived_sag_s: Annotated[float, about("longest sag that costs no step", unit="s", source="P6", gt=0)] = 1.2


class CheckpointLimits(Table, frozen=True, kw_only=True):
    """Checkpoints: where they go, and what packing them costs."""

    fast_folder: Annotated[str, about("first tier", source="C2")] = "/dev/shm"  # noqa: S108 - the document's path, a setting
    durable_folder: Annotated[str, about("second tier", source="C2")] = "/distributed_storage"
    compress: Annotated[str, about("compression of snapshots", source="C11")] = "zstd"
    compress_cpu_percent: Annotated[float, about("CPU share of zstd", unit="%", source="C12", gt=0, le=100)] = 15.0
    compress_ratio: Annotated[float, about("ratio of zstd; doubted, never planned on", source="C12", ge=1)] = 3.2
    compress_denied: Annotated[tuple[str, ...], about("compressions refused", source="C13")] = ("lz4",)
    load_s: Annotated[float, about("time to load one epoch's weights from the pool", unit="s", source="C14", gt=0)] = 47.0
    load_slow_s: Annotated[float, about("the same from storage", unit="s", source="C14", gt=0)] = 1260.0

    def conflicts(self) -> Iterable[Conflict]:
        """What is refused is not what is used."""
        if self.compress in self.compress_denied:
            yield Conflict(key=("compress",), fault="is in compress_denied", remedy="choose another, or take it off that list")


class PoolLimits(Table, frozen=True, kw_only=True):
    """The shared memory pool of a node and the wear of its persistent memory."""

    hbm_gb_per_card: Annotated[float, about("HBM of a card", unit="GB", source="D1", gt=0)] = 96.0
    hbm_gb: Annotated[float, about("HBM of a node", unit="GB", source="D1", gt=0)] = 768.0
    ddr_tb: Annotated[float, about("DDR5 of a node", unit="TB", source="D1", gt=0)] = 1.0
    pmem_tb: Annotated[float, about("persistent memory of a node", unit="TB", source="D1", gt=0)] = 2.0
    feed_forward_steps: Annotated[int, about("steps between two uses of feed-forward weights", source="D3", ge=1)] = 2
    probe_gb: Annotated[float, about("data read by the bandwidth probe", unit="GB", source="D4", gt=0)] = 128.0
    read_good_tbps: Annotated[float, about("pool read bandwidth that is good", unit="TB/s", source="D4", gt=0)] = 1.8
    read_best_tbps: Annotated[float, about("the theoretical one", unit="TB/s", source="D4", gt=0)] = 2.1
    read_bad_tbps: Annotated[float, about("below this the mount is suspected", unit="TB/s", source="D5", gt=0)] = 1.5
    unmounted_percent: Annotated[float, about("slow pools whose cause is the mount", unit="%", source="D5", ge=0, le=100)] = 90.0
    pmem_device: Annotated[str, about("persistent memory device", source="D6")] = "/dev/pmem0"
    pmem_folder: Annotated[str, about("where it is mounted, with dax", source="D6")] = "/mnt/dsm_pmem"
    life_dwpd: Annotated[float, about("rated writes, drive writes per day", unit="1/day", source="D8", gt=0)] = 60.0
    readonly_dwpd: Annotated[float, about("writes at which a block becomes read-only", unit="1/day", source="D9", gt=0)] = 45.0
    warranty_days: Annotated[float, about("time over which the rating counts", unit="days", source="ours, after D8", gt=0)] = 1825.0
    process_memory_percent: Annotated[float, about("share of HBM a process may take", unit="%", source="D16", gt=0, le=100)] = 90.0

    def conflicts(self) -> Iterable[Conflict]:
        """A block is protected before it is worn out, and bad bandwidth lies below good."""
        if self.readonly_dwpd >= self.life_dwpd:
            fault = f"is not below life_dwpd = {self.life_dwpd:g}"
            yield Conflict(key=("readonly_dwpd",), fault=fault, remedy="a block must become read-only before it is worn out: lower it")
        if not self.read_bad_tbps <= self.read_good_tbps <= self.read_best_tbps:
            fault = f"is not between read_bad_tbps = {self.read_bad_tbps:g} and read_best_tbps = {self.read_best_tbps:g}"
            yield Conflict(key=("read_good_tbps",), fault=fault, remedy="put the three in order")


class CardLimits(Table, frozen=True, kw_only=True):
    """One card, and the cards of one node."""

    power_w: Annotated[float, about("power of a card at full load", unit="W", source="T1", gt=0)] = 600.0
    die_sensors: Annotated[int, about("temperature sensors on a die", source="T2", ge=1)] = 128
    die_period_ms: Annotated[float, about("time between their reports", unit="ms", source="T2", gt=0)] = 2.0
    die_accuracy_c: Annotated[float, about("their accuracy", unit="C", source="T2", gt=0)] = 0.1
    airflow_sensors: Annotated[int, about("air flow sensors of a node", source="T3", ge=0)] = 8
    fans: Annotated[int, about("fans of a node", source="T3", ge=0)] = 8
    per_node: Annotated[int, about("cards of a node", source="X7", ge=1)] = 8
    l2_mb: Annotated[float, about("L2 of a card", unit="MB", source="S4", gt=0)] = 64.0
    l2_weights_mb: Annotated[float, about("L2 for weights", unit="MB", source="S4", ge=0)] = 20.0
    l2_activations_mb: Annotated[float, about("L2 for activations", unit="MB", source="S4", ge=0)] = 16.0
    l2_general_mb: Annotated[float, about("L2 for the rest", unit="MB", source="S4", ge=0)] = 28.0

    def conflicts(self) -> Iterable[Conflict]:
        """The three parts of L2 are the whole of it."""
        total = self.l2_weights_mb + self.l2_activations_mb + self.l2_general_mb
        if total != self.l2_mb:
            fault = f"its parts add up to {total:g} MB"
            yield Conflict(key=("l2_mb",), fault=fault, remedy="make l2_weights_mb + l2_activations_mb + l2_general_mb equal to it")


class SchedulerLimits(Table, frozen=True, kw_only=True):
    """What the prefetching scheduler of a card is measured by."""

    validation_steps: Annotated[int, about("steps of the validation run", source="S5", ge=1)] = 100
    utilisation_percent: Annotated[float, about("mean utilisation it must show", unit="%", source="S5", gt=0, le=100)] = 65.0
    utilisation_band_percent: Annotated[float, about("tolerance of that mean", unit="%", source="S5", gt=0, le=100)] = 3.0
    swing_percent: Annotated[float, about("swing it must stay below", unit="%", source="S5", gt=0, le=100)] = 8.0
    swing_without_percent: Annotated[float, about("swing without the scheduler", unit="%", source="S5", gt=0, le=100)] = 25.0
    utilisation_bad_percent: Annotated[float, about("below this its switches are checked", unit="%", source="S6", gt=0, le=100)] = 60.0
    prefetch_depth: Annotated[int, about("hjsd_prefetch_depth", source="S6", ge=1)] = 5
    stale_percent: Annotated[float, about("utilisation of a stale graph lies below this", unit="%", source="S7", gt=0, le=100)] = 30.0
    stale_slower_percent: Annotated[float, about("how much slower it trains", unit="%", source="S7", gt=0, le=100)] = 40.0
    recompiled_percent: Annotated[float, about("utilisation after recompiling", unit="%", source="S8", gt=0, le=100)] = 67.0
    atc_framework: Annotated[int, about("framework number of the graph compiler", source="S8", ge=0)] = 5
    baseline_percent: Annotated[float, about("utilisation of the measured run", unit="%", source="S3", gt=0, le=100)] = 68.9
    baseline_before_percent: Annotated[float, about("the same without the scheduler", unit="%", source="S3", gt=0, le=100)] = 36.2
    baseline_tflops: Annotated[float, about("FP16 throughput of a card in it", unit="TFLOPS", source="S3", gt=0)] = 227.0
    baseline_before_tflops: Annotated[float, about("the same without the scheduler", unit="TFLOPS", source="S3", gt=0)] = 124.0


class JobLimits(Table, frozen=True, kw_only=True):
    """The training job: reference points of its metrics, and its shape."""

    utilisation_low_percent: Annotated[float, about("utilisation of a classic cluster", unit="%", source="M4", gt=0, le=100)] = 40.0
    data_bound_percent: Annotated[float, about("below this a job is data-bound", unit="%", source="M4", gt=0, le=100)] = 30.0
    comm_share_percent: Annotated[
        float, about("AllReduce share above this is communication-bound", unit="%", source="M4", gt=0, le=100)
    ] = 25.0
    scaling_percent: Annotated[float, about("scaling efficiency that is good", unit="%", source="M4", gt=0, le=100)] = 70.0
    stage_variance_percent: Annotated[float, about("spread of work over stages", unit="%", source="M5", gt=0, le=100)] = 5.0
    tensor_parallel: Annotated[int, about("tensor-parallel size of the sample plan", source="X2", ge=1)] = 8
    pipeline_parallel: Annotated[int, about("pipeline-parallel size of the sample plan", source="X2", ge=1)] = 16
    data_parallel: Annotated[int, about("data-parallel size of the sample plan", source="X2", ge=1)] = 4
    world_size: Annotated[int, about("WORLD_SIZE of the sample plan", source="E4", ge=1)] = 512
    ranks_per_node: Annotated[int, about("nproc_per_node of the sample plan", source="E4", ge=1)] = 8
    nodes: Annotated[int, about("nnodes of the sample plan", source="E4", ge=1)] = 64
    master_port: Annotated[int, about("MASTER_PORT", source="E4", ge=1, le=65535)] = 29500

    def conflicts(self) -> Iterable[Conflict]:
        """The plan's sizes multiply to its world."""
        plan = self.tensor_parallel * self.pipeline_parallel * self.data_parallel
        for name, product in (
            ("tensor_parallel x pipeline_parallel x data_parallel", plan),
            ("ranks_per_node x nodes", self.ranks_per_node * self.nodes),
        ):
            if product != self.world_size:
                yield Conflict(key=("world_size",), fault=f"{name} is {product}", remedy="make both equal")


class Limits(Table, frozen=True, kw_only=True):
    """All of them, by topic."""

    link: LinkLimits = LinkLimits()
    ring: RingLimits = RingLimits()
    network: NetworkLimits = NetworkLimits()
    coolant: CoolantLimits = CoolantLimits()
    power: PowerLimits = PowerLimits()
    checkpoint: CheckpointLimits = CheckpointLimits()
    pool: PoolLimits = PoolLimits()
    card: CardLimits = CardLimits()
    scheduler: SchedulerLimits = SchedulerLimits()
    job: JobLimits = JobLimits()


def list_limits() -> list[Row]:
    """Every limit as a row of key, value, unit, source and meaning."""
    return list_rows(Limits, ("limits",))
