"""A site that is split: who is on the small side takes nothing out, and goes on judging and acting by itself."""

from __future__ import annotations

from supernoded.messages import ReadingFilter, Readings, Status
from supernoded.model import Result, State
from tests.system.cluster.networks import EVERYTHING
from tests.system.cluster.peers import MQTT
from tests.system.cluster.site import Member, Site
from tests.system.cluster.test_holds import wait_for_holds


async def check_take_out(member: Member, slot: int, site: Site) -> None:
    """It may hold a card of its own, and all that are reachable hear it."""
    card = member.sicken(slot)
    assert (await member.wait_for_outcome(card)).result is Result.DONE
    for other in site.members:
        await wait_for_holds(other, card)
    member.cure(slot)
    assert (await member.wait_for_outcome(card, "card.unhold")).result is Result.DONE
    for other in site.members:
        await wait_for_holds(other)


async def test_the_small_side_takes_nothing_out_and_the_large_side_does(site: Site) -> None:
    holder = await site.settle()
    lone, third = site.list_others(holder)
    lone.place.cut(EVERYTHING)
    mine, theirs = lone.sicken(0), third.sicken(0)
    refused = await lone.wait_for_outcome(mine)  # it has judged, and asked its guards, all by itself
    assert refused.result in (Result.REFUSED, Result.EXPIRED), refused
    assert await lone.list_holds() == ()
    granted = await third.wait_for_outcome(theirs)
    assert granted.result is Result.DONE, granted
    await wait_for_holds(holder, theirs)
    lone.place.heal()
    await wait_for_holds(lone, theirs)


async def test_a_holder_without_the_broker_keeps_its_lease_and_grants_nothing(site: Site) -> None:
    holder = await site.settle()
    lease = await site.wait_for_lease("fleet")
    holder.place.cut(MQTT)
    heard = ReadingFilter(quantity="fleet.heard")  # not known as soon as its own beat does not come back
    await holder.daemon.until("readings", Readings, lambda told: {one.state for one in told.readings} == {State.UNKNOWN}, heard)
    card = holder.sicken(1)
    refused = await holder.wait_for_outcome(card)
    assert refused.result in (Result.REFUSED, Result.EXPIRED), refused
    still = await site.wait_for_lease("fleet")
    assert (still.holder, still.epoch) == (lease.holder, lease.epoch)
    holder.place.heal()
    holder.cure(1)
    await holder.wait_for_link()
    await check_take_out(site.list_others(holder)[0], 0, site)


async def test_beats_that_are_lost_on_the_way_out_alone(site: Site) -> None:
    """It hears the others and is not heard: it is late for them, and gets no grant."""
    holder = await site.settle()
    mute, _ = site.list_others(holder)
    mute.place.cut(MQTT, "out")
    await holder.daemon.until("status", Status, lambda told: "node.late" in {one.kind for one in told.newest_incidents})
    card = mute.sicken(0)
    refused = await mute.wait_for_outcome(card)
    assert refused.result in (Result.REFUSED, Result.EXPIRED), refused
    mute.place.heal()
    mute.cure(0)
    await holder.daemon.until("status", Status, lambda told: not told.open_incidents)
