"""The sentences in the spill file: what was acknowledged and is not in the database yet."""

from __future__ import annotations

from logging import Logger

import msgspec

from supernoded.clock import Clock
from supernoded.errors import JournalError
from supernoded.journal.entries import Spillable
from supernoded.journal.spill import Spill

RETRY_SECONDS = 1.0  # between two tries of a spill file that cannot be used


class Reserve:
    """Opens the spill file when it can, and says once when it cannot."""

    def __init__(self, spill: Spill, clock: Clock, log: Logger) -> None:
        self._spill, self._clock, self._log = spill, clock, log
        self._next_try = 0.0
        self.sentences: list[Spillable] = []
        self.trouble = ""

    def load(self) -> None:
        """Open the file unless it is open; an earlier life may have left sentences in it."""
        if self._spill.is_open or self._clock.now() < self._next_try:
            return
        try:
            records = self._spill.open()
            waiting, self.sentences = self.sentences, self._decode(records)
            for sentence in waiting:
                if sentence not in self.sentences:  # the file was lost under us
                    self._append(sentence)
        except JournalError as error:
            self._give_up(error)
            return
        if self.trouble:
            self._log.info("journal: the spill file %s can be used again", self._spill.path)
            self.trouble = ""

    def keep(self, sentence: Spillable) -> None:
        """Make a sentence durable. Raises JournalError."""
        if not self._spill.is_open:
            raise JournalError(self.trouble or f"the spill file {self._spill.path} is not open")
        try:
            self._append(sentence)
        except JournalError as error:
            self._give_up(error)
            raise

    def forget(self) -> None:
        """Everything is in the database now."""
        count = len(self.sentences)
        self.sentences = []
        try:
            self._spill.clear()
        except JournalError as error:  # they come again when it is opened again, and change nothing
            self._give_up(error)
        self._log.info("journal: %d sentences of the spill file %s were written to the database", count, self._spill.path)

    def close(self) -> None:
        """Close the file; what it holds stays."""
        self._spill.close()

    def _append(self, sentence: Spillable) -> None:
        self._spill.append(msgspec.json.encode(sentence))
        self.sentences.append(sentence)

    def _give_up(self, error: JournalError) -> None:
        self._spill.close()
        self._next_try = self._clock.now() + RETRY_SECONDS
        if not self.trouble:
            self._log.error("journal: %s", error)
        self.trouble = str(error)

    def _decode(self, records: list[bytes]) -> list[Spillable]:
        sentences: list[Spillable] = []
        for record in records:
            try:
                sentences.append(_DECODER.decode(record))
            except msgspec.MsgspecError as error:
                self._log.error("journal: a record of the spill file %s makes no sense and is left out: %s", self._spill.path, error)
        return sentences


_DECODER: msgspec.json.Decoder[Spillable] = msgspec.json.Decoder(Spillable)
