"""Sentences of a length that people read."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 400  # characters of a notice, ours: what is read to its end
LEAST_SEEN = 100  # characters that what was seen has in any case, ours


def shorten(text: str, most: int) -> str:
    """At most so many characters, without a full stop: without its last clauses, else cut."""
    text = text.strip().rstrip(".")
    while len(text) > most and "; " in text:
        text = text.rpartition("; ")[0]
    return text if len(text) <= most else f"{text[: most - 2].rstrip(' ,;:')} …"


def join(seen: str, needed: Sequence[str], wanted: Sequence[str] = (), evidence: str = "") -> str:
    """One sentence of clauses. Where it grows too long, what is only wanted goes first, then the `evidence`, then the end of what was seen.

    The evidence is that of the first needed clause.
    """
    clauses, extra = [_trim(clause) for clause in needed], [_trim(clause) for clause in wanted]
    room = MOST - LEAST_SEEN
    if evidence and len("; ".join(clauses)) + len(evidence) + 5 <= room:
        clauses[0] += f", as {_trim(evidence)}"
    while extra and len("; ".join((*clauses, *extra))) > room:
        extra.pop()
    rest = "".join(f"; {clause}" for clause in (*clauses, *extra))
    whole = shorten(seen, max(LEAST_SEEN, MOST - 1 - len(rest))) + rest
    return f"{whole if len(whole) < MOST else shorten(whole, MOST - 1)}."


def _trim(clause: str) -> str:
    return clause.strip().rstrip(".")
