"""The pen: may this scope write now? Asked by the wire itself, with no await between the question and the first byte."""

from __future__ import annotations

from collections.abc import Callable

from supernoded.errors import NotHeldError

Held = Callable[[str], str | None]  # scope -> why not, None = it may


class Pen:
    """Knows which scopes may write at this instant."""

    def __init__(self, held: Held) -> None:
        self._held = held

    def ask(self, scope: str) -> None:
        """Return when `scope` may write now. Raises NotHeldError with the reason; then nothing was written."""
        refusal = self._held(scope)
        if refusal is not None:
            raise NotHeldError(f"{scope}: nothing was written, {refusal}")
