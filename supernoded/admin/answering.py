"""The front desk: answers every request of the admin socket from the house."""

from __future__ import annotations

import asyncio
import pwd

from supernoded.admin.archives import Archives
from supernoded.admin.card_desk import CardDesk
from supernoded.admin.condition import tell_status
from supernoded.admin.desk import Caller, Request
from supernoded.admin.diagnosing import diagnose
from supernoded.admin.heating import DEW_MARGIN, Site, find_told, list_heat
from supernoded.admin.holding import lay_hand, list_loops, take_hand_off
from supernoded.admin.linking import list_links
from supernoded.admin.mustering import reset_breaker, tell_breakers, tell_nodes
from supernoded.admin.placing import find_rank_map
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
    BreakerReset,
    Breakers,
    BreakerWasReset,
    CheckpointAsk,
    Deed,
    Diagnosed,
    EventFilter,
    Events,
    Handed,
    HandOrder,
    Health,
    IncidentFilter,
    Incidents,
    Jobs,
    Links,
    ModeChanged,
    Modes,
    Nodes,
    Part,
    Plugin,
    Plugins,
    PolicyMode,
    Power,
    RankMap,
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
        self.cards = CardDesk(house, _find_name)

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

    async def nodes(self) -> Nodes:
        """See `Desk.nodes`."""
        return await tell_nodes(self._h)

    async def breakers(self) -> Breakers:
        """See `Desk.breakers`."""
        return await tell_breakers(self._h)

    async def reset_breaker(self, name: str, wanted: BreakerReset, caller: Caller) -> BreakerWasReset:
        """See `Desk.reset_breaker`."""
        return await reset_breaker(self._h, name, wanted, await _find_name(caller.uid))

    async def diagnose(self, subject: str) -> Diagnosed:
        """See `Desk.diagnose`."""
        return diagnose(self._h, subject)

    async def power(self) -> Power:
        """See `Desk.power`."""
        judge = next((node for role, node in sorted(self._h.seats.roles.items()) if role.startswith("power/")), "")
        return list_power(self._h.readings(), self._h.last_words(), self._h.settings.topology, self._now(), judge)

    async def timeline(self, incident: str) -> Timeline | None:
        """See `Desk.timeline`."""
        archives = Archives(self._h)
        one = await archives.find_first(queries.incident(incident)) if incident else await self._find_newest_of_power(archives)
        return None if one is None else await recall_timeline(archives, one, self._now())

    async def _find_newest_of_power(self, archives: Archives) -> Incident | None:
        kinds = sorted({rule.kind for rule in self._h.parts.rules if rule.kind.startswith("power.")})
        found = [rows for kind in kinds for rows in await archives.ask(queries.incidents(queries.Filter(kind=kind, limit=1)))]
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

    async def map_ranks(self, job: str) -> RankMap | None:
        """See `Desk.map_ranks`."""
        return find_rank_map(self._h.readings(), job, self._now())

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
        archives = Archives(self._h)
        found = await archives.find_rows(queries.incidents(asked), lambda one: one.opened, wanted.limit)
        return Incidents(now=self._now(), incidents=found.rows, left_off=found.left_off, unread=archives.unread)

    async def story(self, incident: str) -> Story | None:
        """See `Desk.story`."""
        archives, asked = Archives(self._h), queries.Filter(incident=incident, limit=WHOLE_STORY)
        stored = await archives.find_first(queries.incident(incident))
        if stored is None:
            if archives.unread:
                raise JournalError(f"incident {incident} is not known, and {archives.unread}")
            return None
        events = (await archives.find_rows(queries.events(asked), lambda one: one.at, WHOLE_STORY)).rows[::-1]
        done = (await archives.find_rows(queries.actions(asked), _issued, WHOLE_STORY)).rows
        would = (await archives.find_rows(queries.rehearsals(asked), _issued, WHOLE_STORY)).rows
        merged = await archives.list_all(queries.merged_into(incident))
        return Story(
            now=self._now(),
            incident=stored,
            events=events,
            actions=tuple(sorted((*done, *would), key=_issued)),
            merged=tuple(merged),
            unread=archives.unread,
        )

    async def events(self, wanted: EventFilter) -> Events:
        """See `Desk.events`."""
        asked = queries.Filter(subject=wanted.subject, incident=wanted.incident, limit=wanted.limit)
        archives = Archives(self._h)
        found = await archives.find_rows(queries.events(asked), lambda one: one.at, wanted.limit)
        return Events(now=self._now(), events=found.rows, left_off=found.left_off, unread=archives.unread)

    async def actions(self, wanted: ActionFilter) -> Actions:
        """See `Desk.actions`."""
        asked = queries.Filter(subject=wanted.target, incident=wanted.incident, policy=wanted.policy, limit=wanted.limit)
        archives = Archives(self._h)
        done = await archives.find_rows(queries.actions(asked), _issued, wanted.limit)
        would = await archives.find_rows(queries.rehearsals(asked), _issued, wanted.limit)
        newest = sorted((*done.rows, *would.rows), key=lambda deed: -deed.action.issued)
        left_off = done.left_off + would.left_off + max(len(newest) - wanted.limit, 0)
        return Actions(now=self._now(), actions=tuple(newest[: wanted.limit]), left_off=left_off, unread=archives.unread)

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
        archives, asked = Archives(self._h), queries.Filter(policy=policy, since=self._now() - days * DAY)
        found = await archives.find_rows(queries.rehearsals(asked), _issued, asked.limit)
        since = min((at for at in await archives.ask(queries.first_rehearsal(policy)) if at is not None), default=None)
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


def _issued(deed: Deed) -> float:
    return deed.action.issued


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
