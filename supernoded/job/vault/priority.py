"""The lowest priority for processor and disk: the training comes first. Where the system does not allow it, it is said and we go on."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Mapping

NICE = 19
# ioprio_set(2): include/uapi/linux/ioprio.h, and the call's number in each architecture's table.
_IOPRIO_WHO_PROCESS = 1
_IOPRIO_CLASS_IDLE = 3
_IOPRIO_CLASS_SHIFT = 13
_IOPRIO_SET: Mapping[str, int] = {"x86_64": 251, "aarch64": 30, "riscv64": 30, "loongarch64": 30, "ppc64le": 273, "s390x": 282}


def yield_priority() -> list[str]:
    """Take the lowest. A sentence for each thing that was not allowed."""
    said: list[str] = []
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    except OSError as error:
        said.append(f"runs at its processor priority as it is: nice {NICE} is not allowed here ({error.strerror})")
    fault = _idle_disk()
    if fault:
        said.append(f"runs at its disk priority as it is: {fault}")
    return said


def _idle_disk() -> str:
    number = _IOPRIO_SET.get(platform.machine())
    if number is None:
        return f"ioprio_set has no number known to us on {platform.machine()}"
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    if call(number, _IOPRIO_WHO_PROCESS, 0, _IOPRIO_CLASS_IDLE << _IOPRIO_CLASS_SHIFT) == -1:
        return f"the idle class is not allowed here ({os.strerror(ctypes.get_errno())})"
    return ""
