"""Lines of the kernel, from what happened."""

import pytest

from sim_hardware.devices.tools.kernel_log import tag_line, write_kernel_log
from sim_hardware.plant.words import Happening

GPU, NPU = "NVIDIA SIM-96GB", "Ascend950"


def write(kind: str, subject: str, text: str = "", chip: str = NPU) -> list[str]:
    return list(write_kernel_log(chip, [Happening(12.5, kind, subject, text)], 0.0))


@pytest.mark.parametrize(
    ("kind", "subject", "line"),
    [
        ("link.down", "n0/nic/mlx5_0", "<6>[   12.500000] mlx5_core 0000:60:00.0 eth0: Link down"),
        ("link.up", "n0/card7/port1", "<6>[   12.500000] mlx5_core 0000:70:00.0 eth16: Link up"),
        ("module.absent", "n0/card0/port0", "<6>[   12.500000] mlx5_core 0000:61:00.0: Port module event: module 0, Cable unplugged"),
    ],
)
def test_links_and_modules(kind: str, subject: str, line: str) -> None:
    assert write(kind, subject) == [line]


def test_hot_modules_are_told_and_other_hot_parts_are_not() -> None:
    (line,) = write("part.overheated", "n0", "optics of n0 at 76.0 C, and 75 C is the limit")
    assert line.startswith("<4>")
    assert line.endswith("Cable error, High Temperature")
    assert write("part.overheated", "n0", "dimm of n0 at 86.0 C, and 85 C is the limit") == []


def test_a_lost_card_by_vendor() -> None:
    xid, gone = write("card.fell_off", "n0/card2", chip=GPU)
    assert "NVRM: Xid (PCI:0000:17:00): 79," in xid
    assert gone.endswith("NVRM: GPU 0000:17:00.0: GPU has fallen off the bus.")
    lines = write("card.fell_off", "n0/card2")
    assert [line[:3] for line in lines] == ["<6>", "<3>"]
    assert not any("NVRM" in line for line in lines)


def test_what_is_no_business_of_the_kernel() -> None:
    assert write("link.down", "switch/s1/port3") == write("job.hung", "job/train") == write("card.hung", "n0/card1", chip=GPU) == []


def test_the_host_port_has_the_level_and_no_time() -> None:
    (line,) = write("link.down", "n0/nic/mlx5_0")
    assert tag_line(f"{line}\n") == "<6>mlx5_core 0000:60:00.0 eth0: Link down"
    assert tag_line("something else") == "something else"
