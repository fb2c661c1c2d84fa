"""`nvidia-smi`: the table, `--query-gpu`, `-q -x`, `-L` and `nvlink -s`, for a site whose cards are told as GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.reading import read
from sim_hardware.devices.tools.arguments import UsageError, parse, parse_slot
from sim_hardware.devices.tools.gauges import count_cards, find_bus, read_number
from sim_hardware.devices.tools.gpus import Gpu, list_gpus
from sim_hardware.devices.tools.nvidia_table import print_table
from sim_hardware.devices.tools.nvidia_xml import print_xml
from sim_hardware.devices.tools.words import Run, ToolState

START_S, GPU_S = 0.3, 0.05  # ours
LOST, INVALID = 15, 2  # exit codes: a GPU fell off the bus, and an argument is wrong; by the tool's manual page
LINK_GB_S = 25  # of one link


def nvidia_smi(argv: Sequence[str], panel: Panel, node: str, state: ToolState) -> Run:
    """What the vendor's tool prints. A GPU that fell off takes the whole table with it, unless another one alone is asked for."""
    query = argv[0].removeprefix("--query-gpu=") if argv and argv[0].startswith("--query-gpu=") else None
    try:
        options = parse(argv[1:] if query is not None else argv, frozenset({"-i", "--format"}), _ALONE)
        slots = [parse_slot(options["-i"], count_cards(panel, node))] if "-i" in options else list(range(count_cards(panel, node)))
        show = _find_view(options, query)
    except UsageError as error:
        return Run(INVALID, f"Invalid combination of input arguments: {error}. Please run 'nvidia-smi -h' for help.\n", seconds=0.02)
    lost = [slot for slot in slots if read(panel, f"{node}/card{slot}", "card.present") == 0.0]
    if lost:
        text = f"Unable to determine the device handle for GPU {find_bus(lost[0])}: GPU is lost. Reboot the system to recover this GPU"
        return Run(LOST, text + "\n", seconds=START_S)
    return Run(0, show(list_gpus(panel, node, slots), panel, state), seconds=START_S + GPU_S * len(slots))


_View = Callable[[list[Gpu], Panel, ToolState], str]
_ALONE = frozenset({"-q", "-x", "-L", "nvlink", "-s"})


def _find_view(options: dict[str, str], query: str | None) -> _View:
    """Raises UsageError."""
    kind = options.keys() & _ALONE
    if query is not None and not kind:
        return _plan_query(query.split(","), options.get("--format", "nothing").split(","))
    view = _VIEWS.get(frozenset(kind))
    if view is None or query is not None or "--format" in options:
        raise UsageError(" ".join(sorted(options)))
    return view


def _plan_query(names: list[str], form: list[str]) -> _View:
    """Raises UsageError that names a field or format that is none."""
    names = [name.strip() for name in names]
    for name in names:
        if name not in _FIELDS:
            raise UsageError(f'Field "{name}" is not a valid field to query')
    form = [word.strip() for word in form]
    if form[0] != "csv" or not set(form) <= {"csv", "noheader", "nounits"}:
        raise UsageError(f'"--format={",".join(form)}" is not a valid format')

    def show(gpus: list[Gpu], _panel: Panel, _state: ToolState) -> str:
        rows = [] if "noheader" in form else [", ".join(name + (f" [{_FIELDS[name][1]}]" if _FIELDS[name][1] else "") for name in names)]
        units = "nounits" not in form
        rows += [", ".join(_show_field(gpu, name, units) for name in names) for gpu in gpus]
        return "".join(row + "\n" for row in rows)

    return show


def _show_field(gpu: Gpu, name: str, units: bool) -> str:
    take, unit = _FIELDS[name]
    value = take(gpu)
    return f"{value} {unit}" if unit and units and not value.startswith("[") else value


def _list_names(gpus: list[Gpu], _panel: Panel, _state: ToolState) -> str:
    return "".join(f"GPU {gpu.slot}: {gpu.name} (UUID: {gpu.uuid})\n" for gpu in gpus)


def _show_links(gpus: list[Gpu], panel: Panel, _state: ToolState) -> str:
    """The two ports of each card as links. One that is down is told as inactive; when all are, there is nothing to tell."""
    lines = []
    for gpu in gpus:
        states = [read_number(panel, f"{gpu.card}/port{port}", "link.state") for port in range(2)]
        lines.append(f"GPU {gpu.slot}: {gpu.name} (UUID: {gpu.uuid})")
        if not any(states):
            lines.append("NVML: Unable to retrieve NVLink information as all links are inActive")
            continue
        lines += [f"\t Link {port}: {f'{LINK_GB_S} GB/s' if up else '<inactive>'}" for port, up in enumerate(states)]
    return "".join(line + "\n" for line in lines)


_VIEWS: dict[frozenset[str], _View] = {
    frozenset(): lambda gpus, panel, state: print_table(gpus, state.tell_time(panel.now())),
    frozenset({"-q", "-x"}): lambda gpus, panel, state: print_xml(gpus, state.tell_time(panel.now())),
    frozenset({"-L"}): _list_names,
    frozenset({"nvlink", "-s"}): _show_links,
}
_FIELDS: dict[str, tuple[Callable[[Gpu], str], str]] = {
    "index": (lambda gpu: f"{gpu.slot}", ""),
    "name": (lambda gpu: gpu.name, ""),
    "uuid": (lambda gpu: gpu.uuid, ""),
    "serial": (lambda gpu: gpu.serial, ""),
    "pci.bus_id": (lambda gpu: gpu.bus, ""),
    "temperature.gpu": (lambda gpu: gpu.show("card.temperature"), ""),
    "power.draw": (lambda gpu: gpu.show("card.power", ".2f"), "W"),
    "power.limit": (lambda gpu: f"{gpu.limit_watts:.2f}", "W"),
    "utilization.gpu": (lambda gpu: gpu.show("card.utilisation"), "%"),
    "memory.used": (lambda gpu: gpu.show("card.memory_used", scale=2.0**-20), "MiB"),
    "memory.total": (lambda gpu: gpu.show("card.memory_total", scale=2.0**-20), "MiB"),
    "clocks.current.sm": (lambda gpu: gpu.show("card.clock"), "MHz"),
    "ecc.errors.corrected.volatile.total": (lambda gpu: gpu.show("card.ecc_corrected"), ""),
    "ecc.errors.uncorrected.volatile.total": (lambda gpu: gpu.show("card.ecc_uncorrectable"), ""),
}
