"""The sentences one can write into a journal or ask of it. Each function returns work for `Journal.commit` or `Journal.post`."""

from __future__ import annotations

from typing import TypeAlias

from supernoded.journal.actions import Conclude, Intend, begin, conclude, intend, open_intents, outcomes_of, rehearse
from supernoded.journal.counters import raise_counter, read_counters
from supernoded.journal.incidents import (
    CloseIncident,
    OpenIncident,
    WidenIncident,
    close_incident,
    merge_incident,
    open_incident,
    open_incidents,
    widen_incident,
)
from supernoded.journal.latches import keep_memory, latches, reset_latch, set_latch
from supernoded.journal.leases import Bid, Round, all_leases, bid, check_epoch, release_lease
from supernoded.journal.outbox import Letter, count_messages, delete_messages, next_messages, put_message, trim_messages
from supernoded.journal.records import record_engagement, record_event, record_request, store_readings
from supernoded.journal.rows import Entry, Question, Sentence
from supernoded.journal.states import holds, keep_holds, memories, modes, save_memories, set_mode

__all__ = [
    "Bid",
    "CloseIncident",
    "Conclude",
    "Entry",
    "Intend",
    "Letter",
    "OpenIncident",
    "Question",
    "Round",
    "Sentence",
    "Spillable",
    "WidenIncident",
    "all_leases",
    "begin",
    "bid",
    "check_epoch",
    "close_incident",
    "conclude",
    "count_messages",
    "delete_messages",
    "holds",
    "intend",
    "keep_holds",
    "keep_memory",
    "latches",
    "memories",
    "merge_incident",
    "modes",
    "next_messages",
    "open_incident",
    "open_incidents",
    "open_intents",
    "outcomes_of",
    "put_message",
    "raise_counter",
    "read_counters",
    "record_engagement",
    "record_event",
    "record_request",
    "rehearse",
    "release_lease",
    "reset_latch",
    "save_memories",
    "set_latch",
    "set_mode",
    "store_readings",
    "trim_messages",
    "widen_incident",
]

Spillable: TypeAlias = OpenIncident | CloseIncident | WidenIncident | Intend | Conclude  # what the spill file can hold
