"""What the demo prints itself: plain text into a pipe, modest colours on a terminal, wrapped to be read."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

TERMINAL = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
COLOURS = TERMINAL and "NO_COLOR" not in os.environ
WIDEST = 120
BOLD, CYAN = 1, 36


def say(text: str) -> None:
    """What comes now, and why."""
    print(f"\n{_paint(textwrap.fill(text, _width(), break_long_words=False, break_on_hyphens=False), BOLD)}", flush=True)


def show_command(text: str) -> None:
    """As it would be typed; whole, so that it can be copied."""
    print(_paint(f"$ {text}", CYAN), flush=True)


def show_waiting(what: str, seconds: int, most: float) -> None:
    """That something is waited for: one line that is written over on a terminal, a line of its own in a pipe."""
    line = f"  ... waiting for {what}, {seconds} s of at most {most:g}"
    print(f"\r{line[: _width() - 1]}" if TERMINAL else line, end="" if TERMINAL else "\n", flush=True)


def end_waiting() -> None:
    """Take that line away."""
    if TERMINAL:
        print("\r\033[K", end="", flush=True)


def _paint(text: str, colour: int) -> str:
    return f"\033[{colour}m{text}\033[0m" if COLOURS else text


def _width() -> int:
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
