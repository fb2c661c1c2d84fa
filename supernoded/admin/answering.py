"""The front desk: answers every request of the admin socket from the house."""

from __future__ import annotations

import asyncio
import pwd

from supernoded.admin.condition import tell_status
from supernoded.admin.desk import Caller, Request
from supernoded.admin.diagnosing import choose_incidents, choose_readings, find_related, order_verdicts
from supernoded.admin.heating import DEW_MARGIN, Site, find_told, list_heat
from supernoded.admin.holding import lay_hand, list_loops, take_hand_off
from supernoded.admin.linking import list_links
from supernoded.admin.powering import list_power
from supernoded.admin.recalling import recall_timeline
from supernoded.admin.standing import recall_standing
from supernoded.admin.timeline import choose_incident
from supernoded.admin.tracking import DRAWN, draw_history
from supernoded.errors import AdminError, JournalError
from supernoded.house import House
from supernoded.journal import entries, queries
from supernoded.messages import (
    ActionFilter,
    Actions,
    CheckpointAsk,
    Diagnosed,
    EventFilter,
    Events,
    Handed,
    HandOrder,
    Health,
    Holds,
    IncidentFilter,
    Incidents,
    Jobs,
    Links,
    ModeChanged,
    Modes,
    Part,
    Plugin,
    Plugins,
    PolicyMode,
    Power,
    ReadingFilter,
    Readings,
    Rehearsed,
    Requested,
    Status,
    Story,
    Thermal,
    ThermalHistory,
    ThermalHistoryFilter,
    Timeline,
)
from supernoded.model import Incident, Mode, Said
from supernoded.registry import Found

DAY = 86_400.0
NAME_WITHIN = 1.0  # seconds
WHOLE_STORY = 1_000  # events or actions of one incident


class FrontDesk:
    """See `admin.desk.Desk`."""

    def __init__(self, house: House) -> None:
        self._h = house

    def _now(self) -> float:
        return self._h.clock.now()

    async def status(self) -> Status:
        """See `Desk.status`."""
        return await tell_status(self._h)

    async def health(self) -> Health:
        """See `Desk.health`."""
        parts = tuple(Part(name=c.name, since=c.since, reason=c.text, restarts=c.restarts) for c in self._h.health.conditions())
        return Health(now=self._now(), ready=self._h.ready.is_set(), troubles=tuple(self._h.list_troubles()), parts=parts)

    async def plugins(self) -> Plugins:
        """See `Desk.plugins`."""
        return Plugins(now=self._now(), plugins=tuple(self._plugin(found) for found in self._h.parts.plugins))

    def _plugin(self, found: Found) -> Plugin:
        parts = self._h.parts.of(found.name)
        return Plugin(name=found.name, distribution=found.distribution, version=found.version, reason=found.trouble, parts=parts)

    async def readings(self, wanted: ReadingFilter) -> Readings:
        """See `Desk.readings`."""
        known = self._h.history() if wanted.history else self._h.readings()
        matching = [reading for reading in known if wanted.admits(reading)]
        return Readings(now=self._now(), readings=tuple(matching[: wanted.limit]), left_off=max(len(matching) - wanted.limit, 0))

    async def links(self) -> Links:
        """See `Desk.links`."""
        return Links(now=self._now(), links=list_links(self._h.readings(), self._h.last_words(), self._h.settings.topology))

    async def diagnose(self, subject: str) -> Diagnosed | None:
        """See `Desk.diagnose`."""
        related = find_related(subject, self._h.settings.topology)
        verdicts = order_verdicts(self._h.last_words(), subject, related)
        readings = choose_readings(self._h.readings(), subject)
        incidents = choose_incidents(self._h.incidents, subject, related)
        if not verdicts and not readings and not incidents and subject not in self._h.settings.topology.subjects():
            return None
        causes = self._h.explain([subject])
        return Diagnosed(
            now=self._now(), subject=subject, related=related[1:], verdicts=verdicts, causes=causes, readings=readings, incidents=incidents
        )

    async def power(self) -> Power:
        """See `Desk.power`."""
        judge = next((node for role, node in sorted(self._h.seats.roles.items()) if role.startswith("power/")), "")
        return list_power(self._h.readings(), self._h.last_words(), self._h.settings.topology, self._now(), judge)

    async def timeline(self, incident: str) -> Timeline | None:
        """See `Desk.timeline`."""
        one = await self._h.journal.ask(queries.incident(incident)) if incident else await self._find_newest_of_power()
        return None if one is None else await recall_timeline(self._h.journal, one, self._now())

    async def _find_newest_of_power(self) -> Incident | None:
        kinds = sorted({rule.kind for rule in self._h.parts.rules if rule.kind.startswith("power.")})
        found = [await self._h.journal.ask(queries.incidents(queries.Filter(kind=kind, limit=1))) for kind in kinds]
        return choose_incident(one for rows in found for one in rows.rows)

    async def thermal(self) -> Thermal:
        """See `Desk.thermal`."""
        h, now = self._h, self._now()
        steerings = [steering for duty in h.duties for steering in duty.steerings]
        aims = {one.scope: aim for one in steerings if (aim := one.aim) is not None}
        limits, plugins = h.settings.limits.coolant, h.settings.plugins
        supply, margin = find_told(plugins, "setpoint_c", limits.supply_c), find_told(plugins, "dew_margin_k", DEW_MARGIN)
        site = Site(h.settings.topology, supply, limits.band_c, margin, h.seats.roles, aims)
        return list_heat(h.readings(), h.last_words(), list_loops(steerings, now), site, now)

    async def thermal_history(self, wanted: ThermalHistoryFilter) -> ThermalHistory | None:
        """See `Desk.thermal_history`."""
        now = self._now()
        watches = dict.fromkeys(DRAWN, wanted.seconds)
        return draw_history((duty.history.view(now, watches) for duty in self._h.duties), wanted, now)

    async def lay_hand(self, target: str, wanted: HandOrder, caller: Caller) -> Handed:
        """See `Desk.lay_hand`."""
        return lay_hand(self._h, target, wanted, await _find_name(caller.uid))

    async def take_hand_off(self, target: str, caller: Caller) -> Handed:
        """See `Desk.take_hand_off`."""
        return take_hand_off(self._h, target, await _find_name(caller.uid))

    async def jobs(self) -> Jobs:
        """See `Desk.jobs`."""
        return Jobs(now=self._now(), jobs=tuple(self._h.jobs.desk.list_jobs()))

    async def find_checkpoint(self, job: str, request: str) -> Requested:
        """See `Desk.find_checkpoint`."""
        found = self._h.jobs.desk.find_request(job, request)
        if found is None and request:
            raise AdminError(f"job {job} has no request {request!r}; `supernodectl checkpoint status {job}` shows its newest")
        return Requested(now=self._now(), job=job, request=found)

    async def ask_checkpoint(self, job: str, wanted: CheckpointAsk, caller: Caller) -> Requested:
        """See `Desk.ask_checkpoint`. A save protects and asks for no mode (safety rule 2); who asked is in the journal."""
        reason = wanted.reason or f"asked for by {await _find_name(caller.uid)}"
        return Requested(now=self._now(), job=job, request=self._h.jobs.desk.ask(job, reason, deadline_s=wanted.deadline_s))

    async def incidents(self, wanted: IncidentFilter) -> Incidents:
        """See `Desk.incidents`."""
        asked = queries.Filter(subject=wanted.subject, only_open=not wanted.all, limit=wanted.limit)
        found = await self._h.journal.ask(queries.incidents(asked))
        return Incidents(now=self._now(), incidents=found.rows, left_off=found.left_off)

    async def story(self, incident: str) -> Story | None:
        """See `Desk.story`."""
        read, asked = self._h.journal.ask, queries.Filter(incident=incident, limit=WHOLE_STORY)
        stored = await read(queries.incident(incident))
        if stored is None:
            return None
        events = (await read(queries.events(asked))).rows[::-1]
        done = (await read(queries.actions(asked))).rows
        would = (await read(queries.rehearsals(asked))).rows
        merged = await read(queries.merged_into(incident))
        return Story(
            now=self._now(),
            incident=stored,
            events=events,
            actions=tuple(sorted((*done, *would), key=lambda deed: deed.action.issued)),
            merged=tuple(merged),
        )

    async def events(self, wanted: EventFilter) -> Events:
        """See `Desk.events`."""
        asked = queries.Filter(subject=wanted.subject, incident=wanted.incident, limit=wanted.limit)
        found = await self._h.journal.ask(queries.events(asked))
        return Events(now=self._now(), events=found.rows, left_off=found.left_off)

    async def actions(self, wanted: ActionFilter) -> Actions:
        """See `Desk.actions`."""
        asked = queries.Filter(subject=wanted.target, incident=wanted.incident, policy=wanted.policy, limit=wanted.limit)
        done = await self._h.journal.ask(queries.actions(asked))
        would = await self._h.journal.ask(queries.rehearsals(asked))
        newest = sorted((*done.rows, *would.rows), key=lambda deed: -deed.action.issued)
        left_off = done.left_off + would.left_off + max(len(newest) - wanted.limit, 0)
        return Actions(now=self._now(), actions=tuple(newest[: wanted.limit]), left_off=left_off)

    async def holds(self) -> Holds:
        """See `Desk.holds`."""
        holds = await self._h.journal.ask(entries.holds(self._now()))
        return Holds(now=self._now(), holds=tuple(holds))

    async def modes(self) -> Modes:
        """See `Desk.modes`."""
        return Modes(now=self._now(), default=self._h.modes.default, policies=tuple(map(self._mode, self._h.policies)))

    def _mode(self, policy: str) -> PolicyMode:
        modes = self._h.modes
        word = modes.said.get(policy)
        if word is not None:
            return PolicyMode(policy=policy, mode=word.mode, said_by=word.by, since=word.at)
        return PolicyMode(policy=policy, mode=modes.of(policy), said_by="settings" if policy in modes.settings else "default")

    async def rehearsed(self, policy: str, days: float) -> Rehearsed:
        """See `Desk.rehearsed`."""
        self._check_policy(policy)
        found = await self._h.journal.ask(queries.rehearsals(queries.Filter(policy=policy, since=self._now() - days * DAY)))
        since = await self._h.journal.ask(queries.first_rehearsal(policy))
        return Rehearsed(now=self._now(), policy=policy, days=days, since=since, actions=found.rows, left_off=found.left_off)

    def _check_policy(self, policy: str) -> None:
        if policy not in self._h.policies:
            raise AdminError(f"there is no policy {policy!r}; there are {', '.join(self._h.policies) or 'none'}")

    async def set_mode(self, policy: str, mode: Mode, caller: Caller) -> ModeChanged:
        """See `Desk.set_mode`. A word that lets things be done is durable before it counts; one that stops them counts at once."""
        self._check_policy(policy)
        by = await _find_name(caller.uid)
        before, word = self._h.modes.of(policy), Said(policy=policy, mode=mode, by=by, at=self._now())
        write, text = entries.set_mode(policy, mode, by, word.at), ""
        if mode is Mode.ACT:
            await self._h.journal.commit(write)
            self._h.modes.say(word)
        else:
            self._h.modes.say(word)
            said = await self._h.hand_back(policy), await recall_standing(self._h, policy) if before is Mode.ACT else ""
            text = "; ".join(filter(None, said))
            try:
                await self._h.journal.commit(write)
            except JournalError as error:
                text = f"{text}; in force, but a restart forgets it, since the journal takes no writes: {error}".removeprefix("; ")
        return ModeChanged(now=self._now(), policy=policy, before=before, after=mode, text=text)

    async def record(self, request: Request) -> None:
        """See `Desk.record`."""
        who = request.caller
        await self._h.journal.commit(entries.record_request(self._now(), who.uid, who.pid, request.verb, request.detail, request.answer))


async def _find_name(uid: int) -> str:
    """Bounded: the directory of users may be on a network that is down, and an order to stop does not wait for it."""
    try:
        return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(None, _name_of, uid), NAME_WITHIN)
    except TimeoutError:
        return f"uid {uid}"


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
