"""One look at shared memory and all that follows from it. Whatever goes wrong is a sentence of a tier; nothing is lost by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from supernoded.clock import Clock
from supernoded.errors import VaultError
from supernoded.job.vault.catalogue import Catalogue, Held, Tier, list_jobs, list_steps, read_catalogue
from supernoded.job.vault.clearing import clear_drafts, remove_step
from supernoded.job.vault.files import Files
from supernoded.job.vault.flushing import Pen, hash_part, put_record, seal
from supernoded.job.vault.names import DURABLE, ROOM_FILE, SHARED, name_step
from supernoded.job.vault.records import Whole, encode
from supernoded.job.vault.retention import InMemory, Room, make_room
from supernoded.job.vault.storing import Storing, describe_tier

FIRST_PAUSE = 1.0  # seconds before a tier in trouble is tried again; doubled each time
SHARE = 0.8  # of shared memory that checkpoints may take, where the settings do not say (ours)


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """`room.json`: what a rank looks at before it saves. Bytes."""

    limit: int
    used: int
    room: int
    text: str


@dataclass
class Outcome:
    """Of one round: the jobs seen, the newest step of each that is newly whole, and what is wrong with each tier."""

    jobs: list[str] = field(default_factory=list)
    wholes: dict[str, Whole] = field(default_factory=dict)
    troubles: dict[str, list[str]] = field(default_factory=lambda: {SHARED: [], DURABLE: []})
    room: Said | None = None


class Rounds:
    """The vault's work, round by round. `storing` is absent where there is no durable tier."""

    def __init__(
        self,
        files: Files,
        shared: Tier,
        storing: Storing | None,
        durable: Tier | None,
        pen: Pen,
        limit: int,
        retry_s: float,
        forget_s: float,
        clock: Clock,
    ) -> None:
        self._files, self._shared, self._pen = files, shared, pen
        self._storing, self._durable = storing, durable
        self._limit, self._retry_s, self._forget_s, self._clock = limit, retry_s, forget_s, clock
        self._pause, self._again = 0.0, 0.0
        self._last: list[str] = []  # what was wrong with the durable tier when it was last tried
        self._cleared: set[str] = set()
        self._said: Said | None = None

    def run(self) -> Outcome:
        """One round. Raises nothing that a tier can cause."""
        outcome = Outcome()
        try:
            held = self._scan(outcome)
            self._store(held, outcome)
            self._leave_room(held, outcome)
        except (OSError, VaultError) as error:
            outcome.troubles[SHARED].append(f"{self._shared.root}: {error}")
        return outcome

    def _scan(self, outcome: Outcome) -> dict[str, Catalogue]:
        outcome.jobs = list_jobs(self._files, self._shared.root)
        held: dict[str, Catalogue] = {}
        for job in outcome.jobs:
            try:
                held[job] = read_catalogue(self._files, self._shared, job)
            except OSError as error:  # one job's folder that cannot be read keeps no other waiting
                outcome.troubles[SHARED].append(f"{self._shared.root / job}: {error.strerror}")
                continue
            outcome.troubles[SHARED] += [one.fault for one in held[job].parts if one.fault]
        return held

    def _store(self, held: dict[str, Catalogue], outcome: Outcome) -> None:
        if self._storing is None or self._durable is None:
            self._seal(held, outcome)
            return
        if self._clock.now() >= self._again:
            self._last = self._try_durable(self._storing, self._durable, held, outcome)
            self._pause = min(max(2 * self._pause, FIRST_PAUSE), self._retry_s) if self._last else 0.0
            self._again = self._clock.now() + self._pause
        outcome.troubles[DURABLE] += self._last

    def _try_durable(self, storing: Storing, tier: Tier, held: dict[str, Catalogue], outcome: Outcome) -> list[str]:
        """What is wrong with the tier. Its trouble with one job does not keep another waiting."""
        try:
            fault = storing.check()
        except OSError as error:
            fault = describe_tier(tier, error)
        if fault:
            return [fault]
        wrong: list[str] = []
        for job, catalogue in held.items():
            try:
                fresh, faults = storing.serve(job, catalogue.parts)
            except (OSError, VaultError) as error:
                wrong.append(describe_tier(tier, error) if isinstance(error, OSError) else str(error))
                continue
            outcome.troubles[SHARED] += faults
            if fresh:
                outcome.wholes[job] = max(fresh, key=lambda whole: whole.step)
        return wrong

    def _seal(self, held: dict[str, Catalogue], outcome: Outcome) -> None:
        """Without a durable tier the hashes are still left beside each part."""
        for one in [each for catalogue in held.values() for each in catalogue.parts]:
            if one.saved is None or one.sums is not None:
                continue
            try:
                seal(self._files, one, hash_part(self._files, one), self._pen)
            except (OSError, VaultError) as error:
                outcome.troubles[SHARED].append(f"{one.folder}: {error}")

    def _leave_room(self, held: dict[str, Catalogue], outcome: Outcome) -> None:
        for job in held:
            if job not in self._cleared:
                clear_drafts(self._files, self._shared.root / job, self._pen)
                self._cleared.add(job)
        room = make_room([one for job, catalogue in held.items() for one in self._weigh(job, catalogue.parts)], self._find_limit())
        for job, step in room.go:
            remove_step(self._files, self._shared.root / job, step, self._pen)
        for job in held:  # of a job that has ended nothing stays: the daemon counts jobs
            if self._files.find_age(self._shared.root / job) > self._forget_s:
                self._files.remove_empty(self._shared.root / job)
                self._cleared.discard(job)
        outcome.troubles[SHARED] += [
            f"step {step} of {job} left shared memory before it was durable: the limit is reached, and two newer steps are there"
            for job, step in room.lost
        ]
        outcome.troubles[SHARED] += [room.text] if room.text else []
        outcome.room = self._say_room(room)

    def _weigh(self, job: str, parts: Sequence[Held]) -> Iterator[InMemory]:
        """Every step of a job with all that lies in it, what is just being saved included."""
        folder = self._shared.root / job
        last = max((one.saved.taken for one in parts if one.saved is not None), default=0.0)
        idle = self._storing is not None and self._clock.wall() - last > self._forget_s
        for step in list_steps(self._files, folder):
            ranks = sum(1 for one in parts if one.step == step and not one.fault)
            size = self._files.measure(folder / name_step(step))
            yield InMemory(job=job, step=step, ranks=ranks, size=size, safe=self._is_safe(job, step), idle=idle)

    def _is_safe(self, job: str, step: int) -> bool:
        """Without a durable tier the newest two in shared memory are all there is to keep. A tier in trouble vouches for nothing."""
        if self._storing is None:
            return True
        try:
            return not self._last and self._storing.is_safe(job, step)
        except OSError:  # the next look at the tier tells it
            return False

    def _find_limit(self) -> int:
        return self._limit or int(SHARE * self._files.find_space(self._shared.root)[1])

    def _say_room(self, room: Room) -> Said:
        limit, free = self._find_limit(), self._files.find_space(self._shared.root)[0]
        said = Said(limit=limit, used=room.used, room=max(0, min(limit - room.used, free)), text=room.text)
        if self._said is None or (said.used, said.text, said.limit) != (self._said.used, self._said.text, self._said.limit):
            put_record(self._files, self._shared.root / ROOM_FILE, encode(said), self._pen)
            self._said = said
        return said
