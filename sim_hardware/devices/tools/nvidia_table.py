"""The table of `nvidia-smi`."""

from __future__ import annotations

from datetime import datetime

from sim_hardware.devices.tools.gpus import CUDA, DRIVER, Gpu

_WIDTHS = (41, 24, 22)
_THIN = "+" + "+".join("-" * width for width in _WIDTHS) + "+\n"
_THICK = "|" + "+".join("=" * width for width in _WIDTHS) + "|\n"
_MEBI = 2.0**-20


def print_table(gpus: list[Gpu], now: datetime) -> str:
    """Three rows a GPU."""
    width = sum(_WIDTHS) + 2
    title = f" NVIDIA-SMI {DRIVER:<22} Driver Version: {DRIVER:<14} CUDA Version: {CUDA}"
    head = _print_row("GPU  Name                 Persistence-M", "Bus-Id          Disp.A", "Volatile Uncorr. ECC")
    head += _print_row("Fan  Temp   Perf          Pwr:Usage/Cap", "          Memory-Usage", "GPU-Util  Compute M.")
    top = f"{now:%a %b %e %H:%M:%S %Y}\n+{'-' * width}+\n|{title:<{width}}|\n" + _THIN
    return top + head + _THICK + "".join(_print_gpu(gpu) for gpu in gpus)


def _print_row(*cells: str) -> str:
    return "|" + "|".join(f" {cell:<{width - 1}}" for cell, width in zip(cells, _WIDTHS, strict=True)) + "|\n"


def _print_gpu(gpu: Gpu) -> str:
    power = f"{gpu.show('card.power', missing='N/A'):>5}W / {gpu.limit_watts:.0f}W"
    used, total = gpu.show("card.memory_used", scale=_MEBI, missing="N/A"), gpu.show("card.memory_total", scale=_MEBI, missing="N/A")
    celsius, share = gpu.show("card.temperature", missing="N/A"), gpu.show("card.utilisation", missing="N/A")
    first = _print_row(f"{gpu.slot:>3}  {gpu.name:<26} On", f"{gpu.bus} Off", f"{gpu.show('card.ecc_uncorrectable', missing='N/A'):>20}")
    second = _print_row(f"N/A  {celsius:>3}C    P0  {power:>20}", f"{used:>7}MiB / {total}MiB", f"{share:>6}%      Default")
    return first + second + _THIN
