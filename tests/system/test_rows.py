"""What links recorded in the field must lead to, each with a healthy partner or a fault: counters, error rates, states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.system.recorded import Played, play, save, save_readings, save_settings

PORTS = ("n0/card0/port0", "n0/card1/port1", "n0/card2/port0", "n0/card3/port1")  # with cables, in settings that declare any
PORT, LONE = "n0/nic/mlx5_0/port1", "n0/nic/unnamed/port1"
WORDS_IN_5_S = int(5 * 200e9 / 32)  # of a port at 200 Gb/s

SATURATED = "port_xmit_wait 4294967295\nexcessive_buffer_overrun_errors 15\nlink_downed 255\nport_xmit_discards 65535\n"


def counters(errors: str, words: int, *, state: str = "4: ACTIVE", phys: str = "5: LinkUp", more: str = "") -> str:
    facts = f"mlx5_0/ports/1/state\t{state}\nmlx5_0/ports/1/phys_state\t{phys}\nmlx5_0/ports/1/rate\t200 Gb/sec (4X HDR)\n"
    counted = f"mlx5_0/ports/1/counters/symbol_error\t{errors}\nmlx5_0/ports/1/counters/port_rcv_data\t{words}\n"
    return facts + counted + more


def play_counters(folder: Path, *errors: int | str) -> Played:
    texts = [counters(f"{count}", number * WORDS_IN_5_S) for number, count in enumerate(errors)]
    return play("sysfs-infiniband", *save(folder, *texts))


# 1: counters at their ceiling


def test_counters_at_their_ceiling_are_no_breach_and_no_zero(tmp_path: Path) -> None:
    played = play("sysfs-infiniband", *save(tmp_path, *[f"symbol_error 0\n{SATURATED}"] * 3))
    assert played.events == []
    for quantity, bits in (("link.downed", 8), ("link.discards", 16), ("link.waits", 32)):
        assert played.values(quantity) == {LONE: None}
        assert played.notes(quantity)[LONE].startswith("saturated, cannot measure")
        assert f"{bits} bits; reset it" in played.notes(quantity)[LONE]
    assert played.values("link.symbol_errors") == {LONE: 0}


def test_a_counter_that_runs_into_its_ceiling_is_told(tmp_path: Path) -> None:
    assert ("link.saturated", PORT) in play_counters(tmp_path, 65_500, 65_520, 65_535).raised


def test_beside_a_saturated_counter_the_state_tells_of_a_link_that_goes_down(tmp_path: Path) -> None:
    stuck = "mlx5_0/ports/1/counters/link_downed\t255\n"
    texts = [counters("0", 0, more=stuck), counters("0", 0, state="1: DOWN", phys="2: Polling", more=stuck)]
    assert play("sysfs-infiniband", *save(tmp_path, *texts)).raised == {("link.down", PORT)}


# 2: totals that were there before we looked


def test_what_was_counted_before_the_first_look_is_a_baseline(tmp_path: Path) -> None:
    assert play_counters(tmp_path, 386, 386, 386, 386).events == []


def test_the_same_number_counted_while_we_look_is_a_dying_link(tmp_path: Path) -> None:
    assert ("link.ber", PORT) in play_counters(tmp_path, 386, 386, 772, 1158).raised


# 3: values that are no numbers


def test_a_counter_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    broken = (
        "mlx5_0/ports/1/counters/link_downed\tN/A (no PMA)\n"
        'failed to read file "/sys/class/infiniband/mlx5_0/ports/1/counters/VL15_dropped": invalid argument\n'
        "[11.5] mlx5_core 0000:05:00.0: mlx5_cmd_out_err:835:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed, err(-22)\n"
    )
    texts = [counters(f"{count}", number * WORDS_IN_5_S, more=broken) for number, count in enumerate((0, 0, 500, 1000))]
    healthy = play("sysfs-infiniband", *save(tmp_path, *[texts[0]] * 3, name="healthy"))
    assert healthy.events == []
    assert healthy.notes("link.downed") == {PORT: "no number: 'N/A (no PMA)'"}
    assert healthy.notes("x.infiniband.VL15_dropped") == {PORT: "VL15_dropped: invalid argument"}
    assert play("sysfs-infiniband", *save(tmp_path, *texts)).raised == {("link.ber", PORT)}


# 4: counters that begin again


def test_a_counter_that_was_reset_has_no_errors(tmp_path: Path) -> None:
    assert play_counters(tmp_path, 500, 500, 0, 0, 0).events == []


def test_what_comes_after_a_reset_counts(tmp_path: Path) -> None:
    assert play_counters(tmp_path, 500, 500, 0, 400, 800).raised == {("link.ber", PORT)}


# 5, 6: what mlxlink prints


def mlxlink(effective: str = "15E-255", errors: int = 0, lanes: str = "4014318,15682171", more: str = "") -> str:
    return (
        "mlxlink -d mlx5_0 --show_counters\n\nOperational Info\n----------------\nState : Active\nPhysical state : LinkUp\nSpeed : IB-HDR\n"
        f"Width : 2x\nFEC : RS-FEC - (544,514) + PLR\n\nPhysical Counters and BER Info\nEffective Physical Errors : {errors}\n"
        f"Effective Physical BER : {effective}\nRaw Physical Errors Per Lane : {lanes}\nRaw Physical BER : 1E-7\n{more}"
        '\n-E- "--show_ber_monitor" option is not supported for HCA\n'
    )


def test_raw_errors_that_are_all_corrected_are_a_healthy_link(tmp_path: Path) -> None:
    played = play("mlxlink", *save(tmp_path, *[mlxlink()] * 4))
    assert (played.events, played.values("link.ber.post_fec"), played.values("link.ber.pre_fec")) == ([], {PORT: 0.0}, {PORT: 1e-7})
    assert played.values("link.width") == {PORT: 2.0}


def test_errors_that_are_left_are_told(tmp_path: Path) -> None:
    texts = [mlxlink("3E-9", 3000 * number) for number in range(4)]
    assert ("link.ber", PORT) in play("mlxlink", *save(tmp_path, *texts)).raised


def test_a_port_that_contradicts_its_lanes_is_as_bad_as_the_worst_of_them(tmp_path: Path) -> None:
    text = mlxlink().replace("BER : 1E-7", "BER : 15E-255").replace("4014318,15682171", "0,0")
    lanes = "Raw BER lane 0 : 3E-6\nRaw BER lane 1 : 2E-6\n"
    played = play("mlxlink", *save(tmp_path, text + lanes))
    (reading,) = [one for one in played.pick("reading") if one["quantity"] == "link.ber.pre_fec"]
    assert (reading["value"], reading["note"]) == (3e-6, "contradiction: 15E-255 of the port, but 3e-06 on its worst lane")
    assert ("link.ber", PORT) not in played.raised


# 7: one lane has all the errors


def ethtool(symbols: int, lanes: tuple[int, int, int, int]) -> str:
    each = "".join(f"     rx_err_lane_{lane}_phy: {count}\n" for lane, count in enumerate(lanes))
    counted = f"     rx_pcs_symbol_err_phy: {symbols}\n     rx_corrected_bits_phy: {sum(lanes)}\n"
    return f"NIC statistics of:\nethtool -S eth2\nNIC statistics:\n     rx_bytes_phy: 0\n{counted}{each}"


def test_errors_on_one_lane_are_a_warning_and_no_bit_error_rate(tmp_path: Path) -> None:
    played = play("ethtool", *save(tmp_path, *[ethtool(386, (28_000, 0, 0, 17_700_000))] * 3))
    assert played.raised == {("link.lanes", "n0/nic/eth2")}
    assert [event["severity"] for event in played.pick("event")] == ["warning"]


def test_corrected_bits_alone_are_nothing(tmp_path: Path) -> None:
    texts = [ethtool(386, (4_000_000 * number, 3_900_000 * number, 4_100_000 * number, 4_000_000 * number)) for number in range(1, 5)]
    played = play("ethtool", *save(tmp_path, *texts))
    assert (played.events, played.values("link.fec.corrected")["n0/nic/eth2"]) == ([], 64_000_000)


# 8: ports that are down, and ports that nobody uses


def ibstat(state: str, phys: str, rate: int = 200, lid: str = "868") -> str:
    return (
        f"CA 'mlx5_0'\n    CA type: MT4129\n    Number of ports: 1\n    Port 1:\n        State: {state}\n        Physical state: {phys}\n"
        f"        Rate: {rate}\n        Base lid: {lid}\n        Link layer: InfiniBand\n"
    )


UP, POLLING, DISABLED = ibstat("Active", "LinkUp"), ibstat("Down", "Polling", 10), ibstat("Down", "Disabled", 10, "0xffff")


@pytest.mark.parametrize(
    ("texts", "raised"),
    [
        ([UP, UP], set()),
        ([UP, POLLING], {("link.down", PORT)}),
        ([POLLING, POLLING], set()),  # never up, and not declared: nobody cabled it
        ([DISABLED, DISABLED], set()),
        ([UP, DISABLED], set()),  # somebody switched it off
    ],
)
def test_a_port_that_goes_down_is_told_and_one_that_nobody_uses_is_not(tmp_path: Path, texts: list[str], raised: set[object]) -> None:
    played = play("sysfs-infiniband", *save(tmp_path, *texts))
    assert played.raised == raised
    assert played.values("link.state") == {PORT: float(texts[-1] == UP)}


@pytest.mark.parametrize(("enabled", "severity"), [(1.0, "critical"), (0.0, "warning")])
def test_a_declared_port_that_never_came_up_is_told_less_so_when_it_is_switched_off(tmp_path: Path, enabled: float, severity: str) -> None:
    facts = (("link.enabled", enabled), ("link.state", 0.0))
    rows = [(float(at), PORTS[0], quantity, value, "1") for at in range(0, 60, 10) for quantity, value in facts]
    path = save_readings(tmp_path / "readings.jsonl", rows)
    played = play("readings", path, options=["--config", str(save_settings(tmp_path))])
    assert [(event["kind"], event["severity"]) for event in played.pick("event")] == [("link.down", severity)]


# 9: links that are down after a boot


def boot(folder: Path, ups: dict[float, float], ports: Sequence[str] = PORTS) -> Path:
    """A node that booted 20 s before; `ups` = from when on its links are up or down."""
    rows = [(float(at), "n0", "host.uptime", 20.0 + at, "s") for at in range(0, 420, 20)]
    for port in ports:
        states = [(float(at), ups[max(begin for begin in ups if begin <= at)]) for at in range(0, 420, 20)]
        rows += [(at, port, "link.state", state, "1") for at, state in states]
    return save_readings(folder / "readings.jsonl", sorted(rows))


def test_links_that_train_in_the_first_minutes_after_a_boot_are_no_fault(tmp_path: Path) -> None:
    path = boot(tmp_path, {0.0: 0.0, 150.0: 1.0})
    assert play("readings", path, options=["--config", str(save_settings(tmp_path, 4))]).events == []


def test_links_that_stay_down_after_their_time_are_told_once_a_cable(tmp_path: Path) -> None:
    played = play("readings", boot(tmp_path, {0.0: 0.0}), options=["--config", str(save_settings(tmp_path, 4))])
    assert played.raised == {("link.down", port) for port in PORTS}
    assert {event["at"] for event in played.pick("event")} == {280.0}
    assert sorted(told.split(":")[0] for told in played.actions) == [
        "link.down on 2 subjects that share cable/n0/card0/port0--n0/card1/port1",
        "link.down on 2 subjects that share cable/n0/card2/port0--n0/card3/port1",
    ]


def test_a_link_that_trained_since_the_boot_and_fails_is_judged(tmp_path: Path) -> None:
    path = boot(tmp_path, {0.0: 0.0, 60.0: 1.0, 120.0: 0.0}, PORTS[:1])
    assert play("readings", path).raised == {("link.down", PORTS[0])}


# the same with the recordings of other people


@pytest.mark.parametrize(
    "name", ["gpud_h100_sysfs_flat.tsv", "gpud_pr943_saturated_counters.txt", "sysfs_bad_values.txt", "ibstat_polling.txt"]
)
def test_trees_of_real_nodes_are_healthy_or_unknown(recordings: Path, name: str) -> None:
    path = recordings / "ib" / name
    played = play("sysfs-infiniband", path, path, path)
    assert played.events == []
    assert played.pick("reading") != []


def test_real_prints_of_tools(recordings: Path) -> None:
    path = recordings / "ib" / "mlxlink_show_counters_a100_hdr.txt"
    played = play("mlxlink", path, path, path)
    assert played.events == []
    assert set(played.values("link.ber.post_fec").values()) == {0.0}
    lanes = play("ethtool", *[recordings / "ib" / "ethtool_S_mlx5_fec.txt"] * 3)
    assert {kind for kind, _ in lanes.raised} == {"link.lanes"}
