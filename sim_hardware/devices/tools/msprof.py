"""`msprof`: the utilisation of a card over the last steps, as a table (S5)."""

from __future__ import annotations

from collections.abc import Sequence

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.arguments import UsageError, parse, parse_slot
from sim_hardware.devices.tools.gauges import count_cards, find_present, read_number, touch
from sim_hardware.devices.tools.words import Run, ToolState
from sim_hardware.plant.chance import draw_normal, start_chance

STEPS, MOST_STEPS = 100, 10_000
SPREAD = 0.012  # of a step's mean utilisation from step to step; six of it are below the 8 % of S5
STEP_S = 2.0  # where no job tells its own


def msprof(argv: Sequence[str], panel: Panel, node: str, _state: ToolState) -> Run:
    """`--device=N --steps=100`: it takes as long as the steps do. Codes: 0, 1 no such card, 2 usage."""
    try:
        options = parse(argv, frozenset({"--device", "--steps"}), frozenset())
        slot = parse_slot(options.get("--device", "0"), count_cards(panel, node))
        steps = parse_slot(options.get("--steps", f"{STEPS}"), MOST_STEPS)
    except UsageError as error:
        return Run(2, err=f"msprof: wrong argument: {error}\nusage: msprof [--device=N] [--steps={STEPS}]\n", seconds=0.01)
    if slot not in find_present(panel, node):
        return Run(1, err=f"[ERROR] device {slot} does not exist\n", seconds=0.3)
    card = touch(panel, f"{node}/card{slot}")
    mean, step_s = read_number(panel, card, "card.utilisation"), _read_step_time(panel)
    if mean is None:
        return Run(1, err=f"[ERROR] device {slot}: no utilisation data\n", seconds=0.3)
    chance, lines = start_chance(0, f"{card}/{panel.now():.0f}"), ["Step ID,Device ID,AI Core Utilization(%),Step Time(us)"]
    for step in range(1, steps + 1):
        chance, normal = draw_normal(chance)
        share = min(100.0, max(0.0, mean * (1.0 + SPREAD * normal)))
        lines.append(f"{step},{slot},{share:.2f},{step_s * 1e6 * (1.0 + SPREAD * normal / 4.0):.0f}")
    return Run(0, "\n".join(lines) + "\n", seconds=1.0 + steps * step_s)


def _read_step_time(panel: Panel) -> float:
    job = panel.rack.sim.job
    step_s = read_number(panel, f"job/{job.name}", "job.step_time") if job else None
    return step_s if step_s is not None and 0.0 < step_s < 1e4 else STEP_S
