"""What cards recorded in the field must lead to, each with a healthy partner or a fault: tools of cards, and what kernels say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.system.recorded import play, save

# 10: records of links, by the clock of a device


def link_stat(device: int, prefix: str, ups: int, records: Sequence[str]) -> str:
    mark = f"[{prefix} {device}]"
    lines = [f"{mark}current time        : Wed Aug  2 03:09:26 2022", f"{mark}link up count       : {ups}", f"{mark}link change records :"]
    listed = [f"{mark}    {record}" for record in records]
    return "\n".join((f"hccn_tool -i {device} -link_stat -g", *lines, *listed, ""))


ENDS_UP = ("Tue Aug  1 14:43:40 2022    LINK UP", "Tue Aug  1 14:43:40 2022    LINK DOWN", "Tue Aug  1 14:43:26 2022    LINK UP")
ENDS_DOWN = ("Tue Aug  1 14:43:40 2022    LINK DOWN", "Tue Aug  1 14:43:40 2022    LINK UP", "Tue Aug  1 14:43:26 2022    LINK UP")
AGAIN = ("Wed Aug  2 03:09:01 2022    LINK UP", "Wed Aug  2 03:09:00 2022    LINK DOWN")


@pytest.mark.parametrize("prefix", ["devid", "device"])
def test_records_end_in_a_state_and_are_old_by_the_clock_of_the_device(tmp_path: Path, prefix: str) -> None:
    texts = [link_stat(device, prefix, 2, records) for device, records in enumerate((ENDS_DOWN, ENDS_UP))]
    stat = "hccn_tool -i 0 -stat -g\npacket statistics:\nroce_rx_err_pkt_num:13\nroce_tx_err_pkt_num:77\n"
    played = play("hccn_tool", *save(tmp_path, *["\n".join((*texts, stat))] * 3))
    assert played.values("link.state") == {"n0/card0/port0": 0.0, "n0/card1/port0": 1.0}
    assert set(played.values("link.recent_downs").values()) == {0.0}
    assert played.values("link.downed") == {"n0/card0/port0": 2.0, "n0/card1/port0": 1.0}
    assert played.raised == {("link.down", "n0/card0/port0")}  # it was up before by its own records; what was counted is a baseline


def test_changes_between_two_looks_are_flaps(tmp_path: Path) -> None:
    texts = [link_stat(1, "devid", 2 + 3 * number, [*AGAIN * (3 * number), *ENDS_UP]) for number in range(3)]
    assert ("link.flapping", "n0/card1/port0") in play("hccn_tool", *save(tmp_path, *texts)).raised


def test_a_link_that_went_down_for_good_is_told(tmp_path: Path) -> None:
    texts = [link_stat(1, "devid", 2, ENDS_UP), link_stat(1, "devid", 2, ["Wed Aug  2 03:09:20 2022    LINK DOWN", *ENDS_UP])]
    assert play("hccn_tool", *save(tmp_path, *texts)).raised == {("link.down", "n0/card1/port0")}


# 11: a module that is said to be absent, and measures


def optical(present: str = "present", rx: Sequence[float] = (1.02, 1.0, 0.99, 1.02), tx0: float = 1.44, los: str = "0x0") -> str:
    lanes = "".join(
        f"Tx Power{lane} : {tx0 if lane == 0 else 1.4:.4f} mW\nRx Power{lane} : {light:.4f} mW\n" for lane, light in enumerate(rx)
    )
    limits = (
        "TxPower High Thres : 3.5481 mW\nTxPower Low Thres : 0.2818 mW\nRxPower High Thres : 3.5481 mW\nRxPower Low Thres : 0.1445 mW\n"
    )
    flags = f"Tx Los Flag : 0x0\nRx Los Flag : {los}\nHost SNR Lane0 : not supported\nMedia SNR Lane0 : 23.1211 dB\n"
    return f"hccn_tool -i 0 -optical -g\noptical info:\npresent : {present}\ntemperature : 47 C\n{lanes}{limits}{flags}\n"


def facts(fec: str = "rs FEC mode", health: str = "Success") -> str:
    return f"hccn_tool -i 0 -fec -g\nfec mode: {fec}\n\nhccn_tool -i 0 -net_health -g\nnet health status: {health}\n\n"


PORT = "n0/card0/port0"


def test_a_module_that_is_well_is_no_news(tmp_path: Path) -> None:
    played = play("hccn_tool", *save(tmp_path, *[optical() + facts()] * 3))
    assert (played.events, played.values("link.rx_power")[PORT]) == ([], 0.99)
    assert played.notes("x.ascend.host_snr") == {f"{PORT}/lane0": "no number: 'not supported'"}


def test_an_absent_module_that_measures_is_a_contradiction_and_its_limits_count(tmp_path: Path) -> None:
    played = play("hccn_tool", *save(tmp_path, optical("not present", (1.02, 0.0054, 0.99, 1.02), 4.4035, "0xff") + facts("no FEC mode")))
    assert {kind for kind, _ in played.raised} == {"link.conflict", "link.optic", "link.lanes", "link.fec_off"}
    (optic,) = [event["text"] for event in played.pick("event") if event["kind"] == "link.optic"]
    assert "lane 1 receives 0.0054 mW, less than the 0.1445 mW" in optic
    assert "lane 0 sends 4.404 mW, more than the 3.548 mW" in optic
    assert "rx-los" in optic


@pytest.mark.parametrize("health", ["Init", "Socket failed"])
def test_a_probe_that_knows_nothing_is_no_fault_of_the_link(tmp_path: Path, health: str) -> None:
    played = play("hccn_tool", *save(tmp_path, *[optical() + facts(health=health)] * 3))
    assert not played.raised & {("link.down", PORT), ("link.optic", PORT)}


def test_a_tool_that_prints_nothing_is_unknown(tmp_path: Path) -> None:
    played = play(
        "npu-smi", *save(tmp_path, "npu-smi info -i 2 -t board\n\nnpu-smi info -i 0 -t health\n\tHealth Status : OK\n\tError Code : NA\n")
    )
    assert played.notes("card.serial") == {"n0/card2": "the tool printed nothing about it"}
    assert (played.values("card.health"), played.events) == ({"n0/card0": []}, [])


# 12: coded faults


def health(card: int, status: str, codes: str) -> str:
    told = "\n\t                                 ".join(f"fault {code}" for code in codes.split()) or "NA"
    rows = (("Health Status", status), ("Error Code", codes), ("Error Information", told))
    return f"npu-smi info -i {card} -c 0 -t health\n" + "".join(f"\t{name:31}: {value}\n" for name, value in rows) + "\n"


def test_the_worst_of_several_codes_decides(tmp_path: Path) -> None:
    text = health(0, "OK", "NA") + health(6, "Alarm", "A4025021 8C03A000 8C084E00")
    played = play("npu-smi", *save(tmp_path, *[text] * 3))
    assert played.raised == {("card.fault", "n0/card6")}
    assert "8C03A000" in played.actions[0]


@pytest.mark.parametrize(("codes", "raised"), [("A4025021", set()), ("80FFFFFF", {("card.fault", "n0/card6")})])
def test_a_code_to_be_ignored_is_ignored_and_one_that_nobody_knows_is_not(tmp_path: Path, codes: str, raised: set[object]) -> None:
    assert play("npu-smi", *save(tmp_path, *[health(6, "Warning", codes)] * 3)).raised - {("card.fault", "n0/card6")} == set()
    assert play("npu-smi", *save(tmp_path, *[health(6, "OK", codes)] * 3)).raised == raised


def test_a_card_whose_query_is_refused_is_unknown_and_not_ok(tmp_path: Path) -> None:
    text = health(0, "OK", "NA") + "npu-smi info -i 2 -t health\nInvalid card id.\n\n"
    played = play("npu-smi", *save(tmp_path, *[text] * 3))
    assert (played.values("card.health"), played.events) == ({"n0/card0": [], "n0/card2": None}, [])
    assert played.notes("card.health").keys() == {"n0/card2"}


# 13: tables of several generations


def table(*rows: str, head: str = "| Chip  Phy-ID | Bus-Id | AICore(%) Memory-Usage(MB) HBM-Usage(MB) |") -> str:
    top = "| npu-smi 25.3.rc1   Version: 25.3.rc1 |\n| NPU   Name | Health | Power(W) Temp(C) Hugepages-Usage(page)|\n"
    return f"{top}{head}\n+====+====+====+\n" + "\n".join(rows) + "\n+====+====+====+\n"


TWO_CHIPS = (
    "| 0     Ascend910 | OK | 166.6 37 0 / 0 |",
    "| 0     0 | 0000:9D:00.0 | 0 0 / 0 58072/ 65536 |",
    "| 0     Ascend910 | OK | - 36 0 / 0 |",
    "| 1     1 | 0000:9F:00.0 | 0 0 / 0 2886 / 65536 |",
)
ONE_CHIP = ("| 0     310B4 | Alarm | 0.0 65 15 / 15 |", "| 0     0 | NA | 0 3628 / 15609 |")


def test_two_chips_of_one_npu_are_two_cards_and_a_dash_is_no_power(tmp_path: Path) -> None:
    played = play("npu-smi", *save(tmp_path, *[table(*TWO_CHIPS)] * 3))
    assert (played.values("card.power"), played.events) == ({"n0/card0": 166.6, "n0/card1": None}, [])
    assert played.notes("card.power") == {"n0/card1": "the tool prints '-'"}
    assert played.values("card.memory_used") == {"n0/card0": 58072 * 2**20, "n0/card1": 2886 * 2**20}


@pytest.mark.parametrize(("chip", "raised"), [("310B4", set()), ("910B4", {("card.fault", "n0/card0")})])
def test_an_alarm_that_is_normal_on_one_chip_is_a_fault_on_another(tmp_path: Path, chip: str, raised: set[object]) -> None:
    text = table(*ONE_CHIP, head="| Chip Device | Bus-Id | AICore(%) Memory-Usage(MB) |").replace("310B4", chip)
    played = play("npu-smi", *save(tmp_path, *[text] * 3))
    assert (played.raised, played.values("card.power")) == (raised, {"n0/card0": None})


# 14, 16: what a kernel says

XID = "NVRM: Xid (PCI:0000:a1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
LOST = "[Fri Apr  5 21:29:39 2024] {}\n[Fri Apr  5 21:29:39 2024] NVRM: GPU 0000:a1:00.0: GPU has fallen off the bus.\n"
LINES = (
    "[ 1843.3] NVRM: The NVIDIA GPU 0000:a1:00.0\n          NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
    "          NVRM: fallen off the bus and is not responding to commands.\n"
)
SLOT = "mlx5_core 0002:01:00.0: mlx5_pcie_event:326:(pid 3202):  Detected insufficient power on the PCIe slot (27W).\n"
FLAPS = "".join(f"Aug 17 00:00:{second} ibnode7 kernel: ib6: lost carrier\n" for second in (24, 25, 25, 27, 28, 29))


@pytest.mark.parametrize("text", [LOST.format(XID), LINES])
def test_a_card_that_fell_off_the_bus_is_told_once_in_whatever_words(tmp_path: Path, text: str) -> None:
    played = play("kernel-log", *save(tmp_path, text))
    assert played.events == [("card.lost", "n0/gpu/0000:a1:00.0", True)]
    assert len(played.actions) == 1


def test_a_slot_with_too_little_power_is_a_degraded_adapter_and_no_dead_card(tmp_path: Path) -> None:
    assert play("kernel-log", *save(tmp_path, SLOT)).raised == {("nic.degraded", "n0/nic/0002:01:00.0")}


def test_a_burst_of_lost_carriers_is_one_event_and_a_host_is_no_device(tmp_path: Path) -> None:
    played = play("kernel-log", *save(tmp_path, FLAPS))
    assert played.events == [("link.flapping", "n0/nic/ib6", True)]
    assert {reading["subject"] for reading in played.pick("reading")} == {"n0/nic/ib6"}


def test_two_lost_carriers_are_no_burst(tmp_path: Path) -> None:
    assert play("kernel-log", *save(tmp_path, "".join(FLAPS.splitlines(keepends=True)[:2]))).events == []


# 15: a tool that prints no table


@pytest.mark.parametrize("name", ["GPU0000:A1:00.0", "GPU 0000:A1:00.0"])
def test_the_card_that_the_tool_cannot_reach_is_faulty_and_no_other(tmp_path: Path, name: str) -> None:
    played = play("nvidia-smi", *save(tmp_path, f"Unable to determine the device handle for {name}: Unknown Error\n"))
    assert played.events == [("card.lost", "n0/gpu/0000:a1:00.0", True)]
    assert played.values("card.present") == {"n0/gpu/0000:a1:00.0": 0.0}


def test_a_table_of_cards_that_answer_is_no_news(tmp_path: Path) -> None:
    errors = "    ECC Errors\n        Volatile\n            DRAM Correctable : 0\n"
    text = f"Attached GPUs : 1\nGPU 00000000:A1:00.0\n    Product Name : H100\n{errors}"
    assert play("nvidia-smi", *save(tmp_path, *[text] * 3)).events == []


# the same with the recordings of other people


def test_a_real_node_with_faults(recordings: Path) -> None:
    played = play("hccn_tool", recordings / "ascend" / "npu_info_before__faults.txt")
    assert {kind for kind, _ in played.raised} == {"link.conflict", "link.optic", "link.lanes", "link.fec_off"}
    assert play("hccn_tool", recordings / "ascend" / "hccn_8npu_before.txt").events == []


@pytest.mark.parametrize("name", ["npu_smi_info_A3_25.3.rc1_excerpt.txt", "npu_smi_info_310B4_alarm.txt"])
def test_real_tables_are_healthy(recordings: Path, name: str) -> None:
    path = recordings / "ascend" / name
    played = play("npu-smi", path, path, path)
    assert played.events == []
    assert played.notes("card.power") != {}


def test_real_kernels_and_tools(recordings: Path) -> None:
    kernel = play("kernel-log", recordings / "logs" / "kernel_lines.txt")
    assert {subject for kind, subject in kernel.raised if kind == "card.lost"} == {"n0/gpu/0000:a1:00.0", "n0/gpu/0000:b3:00.0"}
    lines = play("nvidia-smi", recordings / "nvidia" / "nvidia_smi_fault_lines.txt")
    assert lines.raised == {("card.lost", "n0/gpu/0000:a1:00.0"), ("card.lost", "n0/gpu/0000:02:00.0")}
    for name in ("azure_good_nvlink_status.txt", "azure_orig_nvsmi8_output.txt"):
        assert play("nvidia-smi", recordings / "nvidia" / name).events == []
