from __future__ import annotations

import threading

import pytest

from supernoded.admin import answering


async def test_a_directory_of_users_that_hangs_holds_up_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()

    def hang(uid: int) -> str:
        answers.wait()
        return "alice"

    monkeypatch.setattr(answering, "_name_of", hang)
    monkeypatch.setattr(answering, "NAME_WITHIN", 0.01)
    try:
        assert await answering._find_name(1000) == "uid 1000"
    finally:
        answers.set()


async def test_who_has_a_name_is_called_by_it() -> None:
    assert await answering._find_name(0) == "root"
    assert await answering._find_name(4_000_000_000) == "uid 4000000000"
