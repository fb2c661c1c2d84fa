"""Performs `power.cap` on a node by its BMC, card by card; what stood before is remembered, and put back when the cap is lifted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Action, Effect, Sight, StateFile, Tree, WireError
from supernoded_redfish.cards import Cards
from supernoded_redfish.limits import Before, Limit, fit_watts, is_capped, is_waiting, judge_cap, write_back, write_cap


class Record(msgspec.Struct, frozen=True):
    """What stood before our first cap, by card; empty = we hold none."""

    before: Mapping[str, Before] = {}


class PowerCap:
    """See `supernoded.plugin.Actuator`. An amount caps each card at so many watts; none lifts what we have capped, and nothing else.

    The record is of this daemon: one that finds none, and a limit that stands, leaves it to whoever set it, and says so.
    """

    kinds = frozenset({"power.cap"})

    def __init__(self, cards: Cards, state: Tree) -> None:
        self.targets: Sequence[str] = (cards.node,)
        self._cards = cards
        self._record = StateFile(state, f"caps/{cards.node}.json", Record, "limits", "look at the cards and remove it")

    async def apply(self, action: Action) -> None:
        """Write what is not yet so; one card that refuses does not keep the others. Raises WireError, at the end."""
        limits = await self._cards.read()
        record = await self._record.read()
        if action.step.amount is None:
            wanted = {card: write_back(limits[card], record.before[card]) for card in _list_waiting(record, limits)}
        else:
            watts = action.step.amount
            wanted = {card: write_cap(limit, watts) for card, limit in limits.items() if not is_capped(limit, watts)}
            await self._remember(action.scope, record, {card: limits[card] for card in wanted}, watts)
        await self._write_all(action.scope, limits, wanted)

    async def observe(self, action: Action) -> Sight:
        """Every card, by what is set and by what it draws. Raises WireError."""
        limits = await self._cards.read()
        if not limits:
            return Sight(effect=Effect.UNKNOWN, text=f"{self._cards.node}: its BMC shows no card with a limit")
        if action.step.amount is not None:
            watts = action.step.amount
            held = max(fit_watts(limit, watts) for limit in limits.values())
            told = f"at most {held:g} W" + (f", as low as they can be held; {watts:g} W was asked for" if held > watts else "")
            return _join({card: judge_cap(limit, watts) for card, limit in limits.items()}, told)
        return await self._look_lifted(action.scope, limits)

    async def _look_lifted(self, scope: str, limits: Mapping[str, Limit]) -> Sight:
        record = await self._record.read()
        if not record.before:
            held = [f"{card} {limit.cap:g} W" for card, limit in limits.items() if limit.stands]
            if held:
                return Sight(
                    effect=Effect.UNKNOWN,
                    text=f"limits stand that this daemon has not set: {', '.join(held)}; lift them where they were set",
                )
            return Sight(effect=Effect.PRESENT, text="no limit stands")
        waiting = _list_waiting(record, limits)
        if waiting:
            return Sight(effect=Effect.ABSENT, text=f"not as before: {', '.join(waiting)}")
        gone = [card for card in record.before if card not in limits]
        if gone:
            file = self._record.file
            text = f"{', '.join(gone)}: capped by us and not shown now; if they are gone for good, remove {file} from the state folder"
            return Sight(effect=Effect.UNKNOWN, text=text)
        await self._record.write(scope, Record())
        return Sight(effect=Effect.PRESENT, text=f"no limit of ours stands on {len(record.before)} cards")

    async def _remember(self, scope: str, record: Record, capped: Mapping[str, Limit], watts: float) -> None:
        """Before the first byte; what stood before the first of several caps is what is put back."""
        if capped:
            before = {card: _begin(record.before.get(card), limit, watts) for card, limit in capped.items()}
            await self._record.write(scope, Record({**record.before, **before}))

    async def _write_all(self, scope: str, limits: Mapping[str, Limit], wanted: Mapping[str, Mapping[str, object]]) -> None:
        refused: dict[str, WireError] = {}
        for card, body in wanted.items():
            try:
                await self._cards.write(scope, card, limits[card], body)
            except WireError as error:
                refused[card] = error
        if refused:
            raise WireError(
                f"{len(refused)} of {len(wanted)} limits were not set: " + "; ".join(f"{card}: {why}" for card, why in refused.items())
            )


def _list_waiting(record: Record, limits: Mapping[str, Limit]) -> list[str]:
    return [card for card, before in record.before.items() if card in limits and is_waiting(limits[card], before)]


def _begin(known: Before | None, limit: Limit, watts: float) -> Before:
    ours = fit_watts(limit, watts)
    return Before(limit.watts, limit.mode, ours) if known is None else Before(known.watts, known.mode, ours)


def _join(sights: Mapping[str, Sight], wanted: str) -> Sight:
    """The worst of them: ABSENT before UNKNOWN before PRESENT."""
    for effect in (Effect.ABSENT, Effect.UNKNOWN):
        told = [f"{card}: {sight.text}" for card, sight in sights.items() if sight.effect is effect]
        if told:
            return Sight(effect=effect, text="; ".join(told))
    return Sight(effect=Effect.PRESENT, text=f"{len(sights)} cards hold {wanted}")
