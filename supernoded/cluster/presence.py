"""Who may use the node's name. Beats are proof of life, presence is a hint; of two lives the elder stays. No I/O."""

from __future__ import annotations

from supernoded import __version__
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import Beat, PayloadError, Presence, Vitals
from supernoded.errors import SessionError
from supernoded.history import View

BEAT_EXPIRY = 3  # whole seconds; a beat that comes later says nothing any more
VITALS = {"card.power": 60.0, "card.temperature": 60.0, "job.step": 60.0}  # what a beat tells of, with windows


class DuplicateNameError(SessionError):
    """Another daemon that is alive calls itself by our name."""


class Claim:
    """One life's claim to its node's name: what it says, and what it makes of what others say on the same topics.

    Before it speaks it listens; after that it gives way to an elder life and defends the name against a younger one. A client
    id of its own for each life keeps the broker from handing one's session to the other, which would go back and forth for ever.
    `fingerprint` is that of the node's key: two keys of one name cannot take each other's session either, and the broker's log tells them.
    """

    def __init__(self, node: str, cluster: str, life: str, since: float, fingerprint: str = "") -> None:
        self.node, self.life, self.since = node, life, since
        self.client_id = "-".join(part for part in (node, fingerprint, life) if part)
        self.beat_topic, self.presence_topic = topics.beat(cluster, node), topics.presence(cluster, node)
        self.stands = False  # nobody else was heard while listening
        self.presence_due = False  # what the presence topic shows is not ours

    def presence(self, now: float, *, online: bool) -> Message:
        """What to say at the beginning and end of a link, and with `online` False what the will says."""
        payload = Presence(node=self.node, life=self.life, at=now, since=self.since, online=online, version=__version__)
        return Message(topic=self.presence_topic, payload=topics.encode(payload), retain=True)

    def beat(self, now: float, vitals: Vitals) -> Message:
        """The next beat."""
        payload = Beat(node=self.node, life=self.life, at=now, since=self.since, version=__version__, vitals=vitals)
        return Message(topic=self.beat_topic, payload=topics.encode(payload), expiry=BEAT_EXPIRY)

    def hear_presence(self, message: Message) -> None:
        """See whether our presence stands: the will of an earlier life may come late and overwrite it. Raises PayloadError."""
        self.presence_due = True  # garbage is not ours either
        seen = topics.decode(message.payload, Presence)
        self.presence_due = seen.life != self.life or not seen.online

    def hear_beat(self, message: Message) -> Beat | None:
        """The beat of a younger rival, which gives way as soon as it hears us; None for our own.

        Raises DuplicateNameError when it is for us to give way, PayloadError for what is no live beat.
        """
        if message.retain:
            raise PayloadError("a retained beat speaks for the dead: clear it from the broker")
        seen = topics.decode(message.payload, Beat)
        if seen.life == self.life:
            return None
        if self.stands and (self.since, self.life) < (seen.since, seen.life):
            return seen
        self.stands = False
        raise DuplicateNameError(
            f"another daemon calls itself {self.node} (life {seen.life}): this one stays off the broker until that one stops; "
            "give one of them another node name"
        )


def find_vitals(seen: View, node: str, state: str) -> Vitals:
    """What the next beat tells of its node; what is not GOOD is not known."""
    temperatures = [number for _, number in _list_numbers(seen, "card.temperature", node)]
    powers = [number for _, number in _list_numbers(seen, "card.power", node)]
    steps = [step for job in seen.subjects("job.step") if (step := seen.number("job.step", job)) is not None]
    whole = len(powers) == len([card for card in seen.subjects("card.power") if card.startswith(f"{node}/")])
    return Vitals(
        state=state,
        power=round(sum(powers), 1) if powers and whole else None,
        hottest=max(temperatures, default=None),
        step=int(max(steps)) if steps else None,
    )


def _list_numbers(seen: View, quantity: str, node: str) -> list[tuple[str, float]]:
    cards = [card for card in seen.subjects(quantity) if card.startswith(f"{node}/")]
    return [(card, number) for card in cards if (number := seen.number(quantity, card)) is not None]
