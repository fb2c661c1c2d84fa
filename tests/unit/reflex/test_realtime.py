"""What the kernel may refuse is said, each in a sentence with what to do."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

import pytest

from supernoded.reflex.realtime import lock_memory, take_priority


def test_a_priority_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, policy: int, param: object) -> None:
        del pid, policy, param
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    assert take_priority(20) == (
        "it runs under the ordinary scheduler, as SCHED_FIFO 20 was refused (Operation not permitted); give the unit LimitRTPRIO=20"
    )


def test_a_priority_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda pid, policy, param: asked.append((policy, param.sched_priority)))
    assert take_priority(20) == "it runs under SCHED_FIFO 20"
    assert set(asked) == {(os.SCHED_FIFO, 20)}
    asked.clear()
    assert "ordinary scheduler, as reflex.priority = 0 asks" in take_priority(0)
    assert asked == []


class _Libc:
    def __init__(self, code: int) -> None:
        self.mlockall: Callable[[int], int] = lambda flags: code if flags == 3 else 99


@pytest.mark.parametrize(("code", "said"), [(0, "its memory is locked"), (-1, "LimitMEMLOCK=infinity")])
def test_memory(monkeypatch: pytest.MonkeyPatch, code: int, said: str) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: _Libc(code))
    assert said in lock_memory()
