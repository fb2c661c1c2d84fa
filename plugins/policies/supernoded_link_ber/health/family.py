"""What other incidents belong to the same cable, and which of them says most. Pure."""

from __future__ import annotations

from supernoded.plugin import Incident, Topology, World

CABLE = "cable/"
DOWN, BER, FLAPPING, TREND = "link.down", "link.ber", "link.flapping", "link.trend"
STAYS = 60.0  # seconds after which a link that had been failing, and is down, is told of by itself, ours
TELLING = (  # the most telling first
    *(DOWN, BER, FLAPPING, "link.optic", "link.lanes", "link.fec", TREND),
    *("link.overruled", "link.saturated"),  # what becomes of counters when a link makes errors by the million
)


def find_places(incident: Incident, topology: Topology) -> frozenset[str]:
    """The ports of an incident, and those at the other ends of their cables."""
    ports = {port.rpartition("/lane")[0] or port for port in incident.members or (incident.subject,)}
    if incident.subject.startswith(CABLE):
        ports |= set(incident.subject.removeprefix(CABLE).split("--"))
    return frozenset(ports | {peer for port in ports if (peer := topology.peer(port))})


def find_worse(incident: Incident, world: World, now: float) -> Incident | None:
    """An open incident of the same cable that says more: what is told of that one is told of this one too."""
    if incident.kind not in TELLING:
        return None
    places, rank = find_places(incident, world.topology), TELLING.index(incident.kind)
    for other in world.incidents:
        if other.kind in (BER, FLAPPING) and incident.kind == DOWN:  # the older word was told, and names the cause
            if (
                other.opened < incident.opened
                and now - incident.opened < STAYS
                and not places.isdisjoint(find_places(other, world.topology))
            ):
                return other
        elif other.kind in TELLING[:rank] and not places.isdisjoint(find_places(other, world.topology)):
            return other
    return None


def find_forecast(incident: Incident, world: World) -> str:
    """How long is left, where the trend of the same cable is known; empty where it is not, or has been said."""
    places = find_places(incident, world.topology)
    for other in world.incidents:
        if other.kind == TREND and incident.kind != TREND and not places.isdisjoint(find_places(other, world.topology)):
            said = other.text.partition(": ")[2].partition(";")[0]
            return f"its {said}" if " rise to " in said else ""
    return ""
