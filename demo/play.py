"""What is shown, in order."""

from __future__ import annotations

from demo.observer import TOPICS, Observer
from demo.page import head, tell
from demo.tree import ERRORS, LINK, SPEED, TICK, Tree
from supernoded.ctl.wording import say_value
from supernoded.limits import LinkLimits
from supernoded.model import Reading

SETTLE = 2  # seconds, for clear_s and clear_after_s of the demo's settings


def play(seen: Observer, tree: Tree) -> None:
    """Everything between start and stop. Raises DemoError."""
    status, broker = seen.wait("the daemon to start", seen.started)
    tell("daemon", f"pid {status.pid}, node {status.node}, mode {status.mode.value}, {len(status.sensors)} sensors")
    tell("admin", f"{seen.socket} (supernodectl asks there)")
    tell("MQTT", f"{broker} (the embedded broker, on loopback only; the demo subscribes there to {TOPICS})")
    tell("journal", f"{seen.journal} (SQLite)")
    with seen.listening(broker):
        show_readings(seen)
        incident = show_trouble(seen, tree)
        show_remedy(seen, incident)
        head("5. The same with supernodectl, as on any node:")
        for words in (["status"], ["incidents"], ["incidents", incident], ["actions"]):
            seen.type(*words)
        show_recovery(seen, tree, incident)


def show_readings(seen: Observer) -> None:
    """One reading of this machine, one of the scratch tree."""
    head("2. A reading: the value of one quantity of one subject, with unit, time and state. One of this machine, one of the tree:")
    tell("reading", describe(seen.wait("a reading of this machine", lambda: seen.reading("demo", "host.memory_used"))))
    tell("reading", describe(seen.wait("a reading of the link", lambda: seen.reading(LINK, "link.symbol_errors"))))
    seen.show_row("readings", "subject", LINK)
    tell("", "Rows are written on change and at most once a minute; the newest are in memory (admin socket, /v1/readings).")


def describe(reading: Reading) -> str:
    """It in words."""
    return f"{reading.subject}  {reading.quantity} = {say_value(reading.value, reading.unit)}, {reading.state.value}"


def show_trouble(seen: Observer, tree: Tree) -> str:
    """Errors are injected; what becomes of them. The incident's id."""
    errors = ERRORS / TICK
    rate = f"{errors:.0f} symbol errors a second at {SPEED / 1e9:.0f} Gb/s, a bit error rate (BER) of {errors / SPEED:.0e}"
    head(f"3. From now on {LINK} has {rate}. The limit is {LinkLimits().ber_alarm:g}.")
    tree.erring.set()
    topic, event = seen.wait("the event", lambda: seen.event(LINK, raised=True))
    tell("event", f"{event.kind} raised. {event.text}")
    tell("", "An event is an edge: the rule finds this link bad, and did not before.")
    tell("MQTT", f"{topic}, as the demo received it from the broker")
    seen.show_row("events", "id", event.id)
    incident = seen.wait("the incident", lambda: seen.incident(LINK))
    tell("incident", f"{incident.id}, {incident.severity.value}, open")
    tell("", "An incident is the life of one trouble, from its first event until its cause has been clear for a while.")
    tell("admin", f"/v1/incidents/{incident.id}")
    seen.show_row("incidents", "id", incident.id)
    return incident.id


def show_remedy(seen: Observer, incident: str) -> None:
    """The rehearsed action."""
    head("4. What it would do. In mode observe an action is rehearsed: planned, logged and stored, and sent to nobody and no device.")
    action = seen.wait("the rehearsed action", lambda: next(iter(seen.story(incident).actions), None)).action
    tell("action", f"{action.step.kind} on {action.step.target}, which policy {action.policy} would ask for")
    tell("reason", action.step.reason)
    seen.show_row("rehearsals", "id", action.id)


def show_recovery(seen: Observer, tree: Tree, incident: str) -> None:
    """The errors stop; the incident ends."""
    head("6. The errors stop.")
    tell("", f"The rule wants to see enough bits without one, for {SETTLE} s at least; the incident closes {SETTLE} s after that.")
    tell("", "(The demo's settings say so; by default it is 60 s and another 60 s.)")
    tree.erring.clear()
    topic, event = seen.wait("the link to be clear", lambda: seen.event(LINK, raised=False))
    tell("event", f"{event.kind} cleared. {event.text}")
    tell("MQTT", topic)
    closed = seen.wait("the incident to close", lambda: seen.story(incident).incident.closed)
    tell("incident", f"{incident} closed, {closed - event.at:.1f} s after that")
