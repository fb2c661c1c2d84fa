"""The table `[plugins.ascend]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

Period = Annotated[float, msgspec.Meta(ge=1, le=3600)]  # seconds
Count = Annotated[int, msgspec.Meta(ge=0, le=1023)]


class AscendSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which programs are asked how often, and what their numbers mean here. Periods are ours but for that of L1."""

    hccn_tool: tuple[str, ...] = ("/usr/local/Ascend/driver/tools/hccn_tool",)  # empty = ports are not asked
    npu_smi: tuple[str, ...] = ("npu-smi",)
    device_files: str = "/dev"  # no `davinci*` there, none in `devices`, and no programs: not such a machine, so nothing is missed
    devices: tuple[Count, ...] = ()  # as `hccn_tool -i` numbers them; empty = the topology's cards, else those of `npu-smi info -m`
    chips_per_npu: Annotated[int, msgspec.Meta(ge=1, le=8)] = 1  # above 1 a card is a chip, numbered by its physical id
    second_port: tuple[str, ...] = ()  # words that make hccn_tool ask the second port; empty = cards have one
    neighbours: Mapping[str, str] = {}  # `system/port` or `port` of LLDP -> subject
    timeout_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 4.0  # of one run of one tool
    link_s: Annotated[float, msgspec.Meta(ge=0.5, le=3600)] | None = None  # -link, -stat; None = limits.link.poll_s (L1)
    records_s: Period = 15.0  # -link_stat
    optical_s: Period = 10.0  # -optical
    probe_s: Period = 30.0  # -net_health
    neighbours_s: Period = 15.0  # -lldp; whether cables are as they should be (L12) waits for it
    facts_s: Period = 60.0  # -fec, -speed
    cards_s: Period = 10.0  # npu-smi info
    health_s: Period = 30.0  # npu-smi info -t health, -t ecc
    boards_s: Period = 60.0  # npu-smi info -t board
    log_folder: str = "/var/log/hccl"  # empty = no log is read
    log_name: str = "hccl.log"
    log_tail: tuple[str, ...] = ("tail", "-c", "60000")  # reads the end of a log that is too long to be read whole
    log_s: Period = 5.0
    ring_check: tuple[str, ...] = ()  # words of the program that looks at a ring, {ring} stands for its name; empty = none
    ring_latency: tuple[str, ...] = ()  # the same for its hops; also {size}, and {order}: 0,1,...
    ring_s: Period = 15.0
    ring_timeout_s: Annotated[float, msgspec.Meta(ge=1, le=600)] = 60.0  # of one run, which may go round a large ring
