"""What the demo prints: plain text into a pipe, modest colours on a terminal, wrapped to be read."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

TERMINAL = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
COLOURS = TERMINAL and "NO_COLOR" not in os.environ
WIDEST = 120
INDENT = 12


def head(text: str) -> None:
    """What comes now."""
    lines = textwrap.fill(text, _width(), break_long_words=False, break_on_hyphens=False)
    print(f"\n\033[1m{lines}\033[0m" if COLOURS else f"\n{lines}", flush=True)


def tell(name: str, text: str) -> None:
    """A fact under its name; without a name it explains the one above."""
    lines = textwrap.wrap(text, _width() - INDENT, break_long_words=False, break_on_hyphens=False)
    label = f"   {name:<{INDENT - 3}}"
    print(f"\033[36m{label}\033[0m" if COLOURS else label, f"\n{' ' * INDENT}".join(lines), sep="", flush=True)


def tell_waiting(what: str, seconds: int, most: float) -> None:
    """That something is waited for: one line that is written over on a terminal, a line of its own in a pipe."""
    line = f"   ... waiting for {what}, {seconds} s of at most {most:g}"
    print(f"\r{line[: _width() - 1]}" if TERMINAL else line, end="" if TERMINAL else "\n", flush=True)


def end_waiting() -> None:
    """Take that line away."""
    if TERMINAL:
        print("\r\033[K", end="", flush=True)


def _width() -> int:
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
