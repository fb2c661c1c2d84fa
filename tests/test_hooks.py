"""Each hook has a test: adding a hook without one fails here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import supernoded_acme
from supernoded import hookspecs

HOOKS = sorted(name for name in vars(hookspecs) if name.startswith("supernoded_"))


def find_tests(hook: str, tests: Path) -> list[str]:
    """The test functions in whose body the hook is called, implemented or looked at."""
    functions = [
        node
        for path in sorted(tests.rglob("test_*.py"))
        if path != Path(__file__)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [node.name for node in functions if node.name.startswith("test_") and hook in ast.unparse(node)]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_test(hook: str) -> None:
    assert find_tests(hook, Path(__file__).parent)


def test_the_foreign_plugin_uses_every_hook() -> None:
    assert [name for name in HOOKS if not hasattr(supernoded_acme, name)] == []
