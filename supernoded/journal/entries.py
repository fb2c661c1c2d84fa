"""The sentences one can write into a journal or ask of it. Each function returns work for `Journal.commit` or `Journal.post`."""

from __future__ import annotations

from typing import TypeAlias

from supernoded.journal.actions import Conclude, Intend, begin, conclude, intend, open_intents, outcomes_of, rehearse
from supernoded.journal.copies import copy_action, copy_incident
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
from supernoded.journal.leases import all_leases, check_epoch, release_lease, take_lease
from supernoded.journal.outbox import Letter, count_messages, delete_messages, next_messages, put_message, trim_messages
from supernoded.journal.records import record_engagement, record_event, record_request, store_readings
from supernoded.journal.rows import Entry, Question, Sentence
from supernoded.journal.states import holds, lift_hold, memories, modes, place_hold, save_memories, set_mode

__all__ = [
    "CloseIncident",
    "Conclude",
    "Entry",
    "Intend",
    "Letter",
    "OpenIncident",
    "Question",
    "Sentence",
    "Spillable",
    "WidenIncident",
    "all_leases",
    "begin",
    "check_epoch",
    "close_incident",
    "conclude",
    "copy_action",
    "copy_incident",
    "count_messages",
    "delete_messages",
    "holds",
    "intend",
    "lift_hold",
    "memories",
    "merge_incident",
    "modes",
    "next_messages",
    "open_incident",
    "open_incidents",
    "open_intents",
    "outcomes_of",
    "place_hold",
    "put_message",
    "record_engagement",
    "record_event",
    "record_request",
    "rehearse",
    "release_lease",
    "save_memories",
    "set_mode",
    "store_readings",
    "take_lease",
    "trim_messages",
    "widen_incident",
]

Spillable: TypeAlias = OpenIncident | CloseIncident | WidenIncident | Intend | Conclude  # what the spill file can hold
