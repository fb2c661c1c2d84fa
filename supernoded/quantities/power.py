"""UPS, PDU, outlets, power supplies, the reflex bridge, lines."""

from __future__ import annotations

from supernoded.quantities.shape import Quantity, celsius, counter, share, text

_PHASES = ("L1", "L2", "L3")


def _phased(name: str, unit: str, high: float) -> tuple[Quantity, ...]:
    """A quantity of the whole, and of each phase: `ups.output_va`, `ups.output_va.L1` ..."""
    return (Quantity(name, unit, 0.0, high), *(Quantity(f"{name}.{phase}", unit, 0.0, high) for phase in _PHASES))


# Of `utility/A` nothing is known but through its UPS: `ups/A`, `pdu/A1`, `pdu/A1/outlet7`.
POWER = (
    Quantity("ups.status", "flags"),  # NUT's words, small: ol ob lb rb chrg dischrg bypass cal test off fsd over trim boost alarm eco
    text("ups.source", "normal", "bypass", "battery", "booster", "reducer", "none"),  # RFC 1628 upsOutputSource
    text("ups.link", "ok", "stale", "no-driver", "silent"),  # what its server says of its own line to it
    *_phased("ups.input_voltage", "V", 1000.0),  # phase to neutral; the whole is the lowest phase
    Quantity("ups.input_voltage.nominal", "V", 0.0, 1000.0),
    Quantity("ups.input_frequency", "Hz", 0.0, 100.0),
    *_phased("ups.output_voltage", "V", 1000.0),
    *_phased("ups.output_va", "VA", 1e7),
    Quantity("ups.output_power", "W", 0.0, 1e7),
    *_phased("ups.load", "%", 300.0),
    Quantity("ups.rated_va", "VA", 0.0, 1e7),
    share("ups.charge"),
    share("ups.charge.low"),  # the UPS's own threshold of LB
    Quantity("ups.runtime", "s", 0.0, 1e6),  # as it claims
    Quantity("ups.runtime.low", "s", 0.0, 1e6),
    Quantity("ups.battery_energy", "J", 0.0, 1e10),  # left, where a device measures it
    Quantity("ups.battery_voltage", "V", 0.0, 2000.0),
    celsius("ups.battery_temperature", -40.0, 90.0, 5.0),
    share("ups.battery_health"),
    text("ups.test_result"),
    text("ups.alarm"),  # in its own words, while it says ALARM
    text("ups.model"),
    text("ups.serial"),
    Quantity("pdu.voltage", "V", 0.0, 1000.0),
    Quantity("pdu.power", "W", 0.0, 1e6),
    *_phased("pdu.current", "A", 1e4),
    Quantity("pdu.rated_current", "A", 0.0, 1e4),  # of each phase
    Quantity("pdu.armed", "1", 0.0, 1.0),
    Quantity("pdu.group", "flags"),  # numbers of the outlets that are armed, as texts
    Quantity("pdu.sheddable", "flags"),  # numbers of those that the PDU itself lets be armed
    Quantity("pdu.lease_left", "s", 0.0, 1e5),
    Quantity("pdu.restore_s", "s", 0.0, 1e4),
    text("pdu.event", "none", "armed", "fired", "restored", "expired", "disarmed"),  # its newest
    counter("pdu.event_count"),
    Quantity("pdu.event_age", "s", 0.0, 1e10),  # since the newest firing, by the PDU's own clock
    Quantity("pdu.opened", "flags"),  # numbers of what the newest firing opened
    Quantity("pdu.shed_delay", "ms", 0.0, 1e6),  # from trigger to open contacts, by the PDU's own clock
    text("pdu.model"),
    text("pdu.serial"),
    text("outlet.state", "on", "off"),
    Quantity("outlet.power", "W", 0.0, 1e5),
    Quantity("outlet.current", "A", 0.0, 1e4),
    Quantity("outlet.locked", "1", 0.0, 1.0),
    # Of `n0/psu0`; redundancy and log of `n0`.
    Quantity("psu.power", "W", 0.0, 1e5),  # what it takes in, or gives where only that is measured
    Quantity("psu.present", "1", 0.0, 1.0),
    text("psu.state"),  # ok, warning, critical, low (at or below its lower critical threshold), input-lost, standby, or its own words
    text("psu.redundancy", "full", "degraded", "lost", "insufficient"),  # the last: lost, and what is left does not suffice
    Quantity("sel.standing", "flags"),  # events of the BMC's log that were asserted and not deasserted since
    text("reflex.state", "ok", "blind", "late", "absent"),  # of `reflex/<line>`: can it fire in time
    counter("reflex.firings"),
    Quantity("reflex.delay", "ms", 0.0, 1e6),  # of its newest firing, bytes in to bytes out
    # Of `line/<name>`, by what went wrong; a Modbus unit's are those of its own subject.
    counter("line.exchanges"),
    counter("line.timeouts"),
    counter("line.crc_errors"),
    counter("line.echo_errors"),
    counter("line.exceptions"),
    counter("line.strays"),
    text("line.state", "ok", "dormant", "refused", "lost"),
)
