"""Holds on the broker: each is retained on a topic of its own, below the name of whoever has placed or lifted it."""

from __future__ import annotations

import math
from collections.abc import Callable

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.session import Session
from supernoded.cluster.topics import HoldTold, PayloadError
from supernoded.holds import KEPT, HoldError, Holds, find_end
from supernoded.model import Hold

MOST_EXPIRY = 4_294_967_295.0  # seconds (MQTT 5, 3.3.2.3.3)

Publish = Callable[..., bool]  # as `Session.publish`


class HoldPost:
    """Tells what `Holds` has to tell, and takes in what the other nodes do."""

    def __init__(self, speaker: Speaker, clock: Clock, publish: Publish) -> None:
        self._speaker, self._clock, self._publish = speaker, clock, publish

    def tell(self, hold: Hold) -> bool:
        """Say a hold; False = there is no way to now. The broker forgets it when all nodes have."""
        who, now = self._speaker, self._clock.now()
        told = HoldTold(node=who.node, life=who.life, at=now, hold=hold)
        topic, end = topics.hold(who.cluster, who.node, hold.id), find_end(hold)
        expiry = 0 if math.isinf(end) else int(min(max(end + KEPT - now, 1.0), MOST_EXPIRY))
        return self._publish(topic, topics.encode(told), retain=True, qos=1, expiry=expiry)

    def hear(self, holds: Holds, message: Message) -> None:
        """Take in what a node says of a hold. Raises PayloadError for what is none, or stands on the topic of another."""
        if not message.payload:
            return  # somebody has cleared the topic: that lifts nothing
        told = topics.decode(message.payload, HoldTold)
        if message.topic.split("/")[-4:] != ["node", told.node, "hold", told.hold.id]:  # no name with `/` passes
            raise PayloadError(f"hold {told.hold.id[:80]!r} of {told.node[:80]!r} stands on a topic that is not its own")
        try:
            holds.hear(told.hold, told.node)
        except HoldError as error:
            raise PayloadError(f"not a hold: {error}") from error


def connect_holds(holds: Holds, post: HoldPost, session: Session, cluster: str) -> None:
    """Hear what the other nodes hold, and say ours at each new link."""
    session.on(topics.of_holds(cluster), lambda message: post.hear(holds, message))
    session.on_link.append(holds.republish)
