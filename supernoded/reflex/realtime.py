"""What the kernel and the interpreter can be asked for, so that nothing else comes first: each says in a sentence whether it was given."""

from __future__ import annotations

import ctypes
import gc
import os
import threading

MCL_CURRENT, MCL_FUTURE = 1, 2  # mman.h


def take_priority(priority: int) -> str:
    """Be scheduled before everything ordinary, with every thread: one that is kept waiting may hold the interpreter's lock. 0 = stay."""
    if not priority:
        return "it runs under the ordinary scheduler, as reflex.priority = 0 asks"
    try:
        for thread in threading.enumerate():
            os.sched_setscheduler(thread.native_id or 0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as error:
        why = f"SCHED_FIFO {priority} was refused ({error.strerror})"
        return f"it runs under the ordinary scheduler, as {why}; give the unit LimitRTPRIO={priority}"
    return f"it runs under SCHED_FIFO {priority}"


def lock_memory() -> str:
    """Keep every page where it is."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE) == 0:
        return "its memory is locked"
    why = os.strerror(ctypes.get_errno())
    return f"its memory is not locked ({why}), so that it may be late after a swap; give the unit LimitMEMLOCK=infinity"


def freeze_collector() -> str:
    """No pause for collecting garbage: what there is by now stays, and what is made from now on is in no cycles."""
    gc.collect()
    gc.freeze()
    gc.disable()
    return "its garbage collector is off"


def get_ready(priority: int) -> str:
    """All of it, in one sentence."""
    return "; ".join((take_priority(priority), lock_memory(), freeze_collector()))
