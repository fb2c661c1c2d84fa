"""`scontrol`: nodes of a Slurm cluster shown and drained. Its lines have the fields of the real one's."""

from __future__ import annotations

from collections.abc import Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.reading import read
from sim_hardware.devices.tools.gauges import count_cards, read_text
from sim_hardware.devices.tools.slurm import Entry, Slurm
from sim_hardware.devices.tools.words import Run, ToolState

ASK_S = 0.05  # ours
VERSION = "23.11.4"
CORES = 128
_GOING = frozenset({"running", "saving", "restoring", "hung"})


def scontrol(argv: Sequence[str], panel: Panel, _node: str, state: ToolState) -> Run:
    """`show node NAME [-o]`, `update NodeName=NAME State=... Reason=...`. Codes: 0, 1 refused or not understood."""
    words = [word for word in argv if word not in {"-o", "--oneliner"}]
    if words == ["--version"]:
        return Run(0, f"slurm {VERSION}\n", seconds=ASK_S)
    if words[:2] in (["show", "node"], ["show", "nodes"]) and len(words) == 3:
        return _show(words[2], panel, state, one_line=len(words) < len(argv))
    if words[:1] == ["update"]:
        return _update(words[1:], panel, state)
    return Run(1, err=f"invalid keyword: {' '.join(words) or 'none'}\n", seconds=ASK_S)


def _find(panel: Panel, slurm: Slurm, name: str) -> str:
    """Our name of a node; empty when there is none."""
    ours = slurm.aliases.get(name, name if name not in slurm.aliases.values() else "")
    return ours if any(one.name == ours for one in panel.rack.nodes) else ""


def _show(name: str, panel: Panel, state: ToolState, *, one_line: bool) -> Run:
    node = _find(panel, state.slurm, name)
    if not node:
        return Run(1, f"Node {name} not found\n", seconds=ASK_S)
    entry, cards, booted = state.slurm.find(node), count_cards(panel, node), f"{state.tell_time(0.0):%Y-%m-%dT%H:%M:%S}"
    busy = round(CORES * _measure_use(panel, node))
    lines = [
        f"NodeName={name} Arch=x86_64 CoresPerSocket={CORES // 2} ",
        f"   CPUAlloc={busy} CPUEfctv={CORES} CPUTot={CORES} CPULoad=0.50",
        "   AvailableFeatures=(null)",
        f"   Gres=npu:{cards}",
        f"   NodeAddr={name} NodeHostName={name} Version={VERSION}",
        "   OS=Linux 5.10.0-60.18.0.50 #1 SMP Wed Mar 30 03:12:24 UTC 2022 ",
        "   RealMemory=1031000 AllocMem=0 FreeMem=905000 Sockets=2 Boards=1",
        f"   State={_tell_state(panel, node, entry)} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A",
        "   Partitions=train ",
        f"   BootTime={booted} SlurmdStartTime={booted}",
        f"   CfgTRES=cpu={CORES},mem=1031000M,billing={CORES}",
        "   AllocTRES=",
        "   CurrentWatts=0 AveWatts=0",
    ]
    if entry.reason:
        lines.append(f"   Reason={entry.reason} [{entry.by}@{state.tell_time(entry.at):%Y-%m-%dT%H:%M:%S}]")
    text = " ".join(line.strip() for line in lines) if one_line else "\n".join(lines)
    return Run(0, f"{text}\n" if one_line else f"{text}\n\n", seconds=ASK_S)


def _measure_use(panel: Panel, node: str) -> float:
    """Share of its cards that have ranks of the job: all that are no spares have one."""
    job, spares = panel.rack.sim.job, {spare.card for spare in panel.rack.spares}
    if job is None or read_text(panel, f"job/{job.name}", "job.state", "") not in _GOING:
        return 0.0
    slots = count_cards(panel, node)
    return sum(f"{node}/card{slot}" not in spares for slot in range(slots)) / max(slots, 1)


def _tell_state(panel: Panel, node: str, entry: Entry) -> str:
    """A base state, a mark where it does not answer, and a flag where it is drained."""
    power, use = read(panel, node, "node.power"), _measure_use(panel, node)
    base = "IDLE" if use == 0.0 else "ALLOCATED" if use == 1.0 else "MIXED"
    if entry.down or power != "on":
        base = "DOWN" if power == "on" else "DOWN*"
    return f"{base}+DRAIN" if entry.drained else base


def _update(words: Sequence[str], panel: Panel, state: ToolState) -> Run:
    fields = {name.lower(): value for name, _, value in (word.partition("=") for word in words)}
    slurm, wanted, reason = state.slurm, fields.get("state", "").upper(), fields.get("reason", "")
    node = _find(panel, slurm, fields.get("nodename", ""))
    fault = _find_fault(node, wanted, reason, slurm)
    if fault:
        return Run(1, err=f"slurm_update error: {fault}\n", seconds=ASK_S)
    if wanted in {"RESUME", "UNDRAIN"}:
        slurm.undrain(node, resume=wanted == "RESUME")
    elif wanted == "DOWN":
        slurm.mark_down(node, reason, at=panel.now())
    elif wanted == "DRAIN":
        slurm.drain(node, reason, at=panel.now())
    else:
        slurm.explain(node, reason, at=panel.now())
    return Run(0, seconds=ASK_S)


def _find_fault(node: str, wanted: str, reason: str, slurm: Slurm) -> str:
    """Why an update is refused; empty when it is not."""
    if slurm.denied:
        return "Invalid user id"
    if not node:
        return "Invalid node name specified"
    if wanted not in {"DRAIN", "DOWN", "RESUME", "UNDRAIN", ""} or not (wanted or reason):
        return "Invalid node state specified"
    return "A reason must be given for this state" if wanted in {"DRAIN", "DOWN"} and not reason else ""
