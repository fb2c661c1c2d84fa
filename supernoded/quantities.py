"""The vocabulary in which device plugins and policies meet: every quantity, its unit, plausible range and fastest plausible change.

A quantity of somebody's own is named `x.<vendor>.<name>`; it is carried as it comes. Any other name is a misspelling, and its
readings become UNKNOWN, which says so. Ranges are those of the thing measured, generous enough that only a broken reading falls
outside: a limit that alarms belongs in `limits.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from supernoded.model import Reading, State, Value

FOREIGN = "x."
MOST = 1e300  # what no quantity reaches, and every float can carry
LONGEST = 4_000  # characters of a text, or flags; the journal takes as much


class Quantity(msgspec.Struct, frozen=True):
    """One entry of the vocabulary."""

    name: str
    unit: str
    low: float = -math.inf
    high: float = math.inf
    fastest: float = math.inf  # units per second; a faster change is a broken reading unless the next one confirms it
    counter: bool = False  # a total as the device gives it
    words: frozenset[str] | None = None  # the values a text may take; None = any text, where the unit is "text" or "flags"


def _counter(name: str, unit: str = "1") -> Quantity:
    return Quantity(name, unit, 0.0, 2.0**64, counter=True)


def _share(name: str) -> Quantity:
    return Quantity(name, "%", 0.0, 100.0)


def _text(name: str, *words: str) -> Quantity:
    return Quantity(name, "text", words=frozenset(words) or None)


def _celsius(name: str, low: float, high: float, fastest: float) -> Quantity:
    return Quantity(name, "C", low, high, fastest)


_LINK = (
    Quantity("link.state", "1", 0.0, 1.0),
    Quantity("link.enabled", "1", 0.0, 1.0),  # 0 = switched off by an administrator
    _text("link.phys_state"),  # in small letters: linkup, polling, disabled, sleep, training ...
    Quantity("link.speed", "Gb/s", 0.0, 3200.0),
    Quantity("link.width", "1", 0.0, 64.0),  # lanes in use
    Quantity("link.mtu", "B", 0.0, 1e6),
    Quantity("link.bits", "bit", 0.0, 2.0**69, counter=True),  # 64-bit counters of 4-octet words
    _counter("link.symbol_errors"),
    _counter("link.effective_errors"),  # errors left after correction, as the device counts them
    _counter("link.receive_errors"),
    _counter("link.discards"),
    _counter("link.recoveries"),
    _counter("link.downed"),
    Quantity("link.recent_downs", "1", 0.0, 1e6),  # of a device's own records, in its last hour
    _counter("link.waits"),
    _text("link.fec"),  # the code in use, such as `rs-fec (544,514)`, or `none`
    _counter("link.fec.corrected"),  # bits of a port, or of one lane
    _counter("link.fec.uncorrected"),  # code words
    Quantity("link.ber.post_fec", "1", 0.0, 0.5),
    Quantity("link.ber.pre_fec", "1", 0.0, 0.5),
    Quantity("link.present", "1", 0.0, 1.0),  # 1 = a module is in the cage
    Quantity("link.los", "flags"),  # rx-los, tx-los, rx-lol, tx-lol
    Quantity("link.rx_power", "mW", 0.0, 100.0),
    Quantity("link.rx_power.low", "mW", 0.0, 100.0),  # the module's own limits
    Quantity("link.rx_power.high", "mW", 0.0, 100.0),
    Quantity("link.tx_power", "mW", 0.0, 100.0),
    Quantity("link.tx_power.low", "mW", 0.0, 100.0),
    Quantity("link.tx_power.high", "mW", 0.0, 100.0),
    Quantity("link.bias", "mA", 0.0, 500.0),
    Quantity("link.bias.low", "mA", 0.0, 500.0),
    Quantity("link.bias.high", "mA", 0.0, 500.0),
    Quantity("link.snr", "dB", -50.0, 100.0),
    Quantity("link.voltage", "V", 0.0, 20.0),
    Quantity("link.voltage.low", "V", 0.0, 20.0),
    Quantity("link.voltage.high", "V", 0.0, 20.0),
    _celsius("link.temperature", -40.0, 150.0, 10.0),
    Quantity("link.temperature.low", "C", -60.0, 200.0),
    Quantity("link.temperature.high", "C", -60.0, 200.0),
    _text("link.neighbour"),  # the port at the other end as a subject, else `system/port` as it names itself
    _text("link.probe", "success", "failed", "fault", "unreachable", "time-out", "starting"),  # of a peer, by the device
    _counter("link.pauses_sent"),
    _counter("link.pauses_received"),
    _counter("link.cnp_sent"),
    _counter("link.cnp_received"),
    _counter("link.ecn_marked"),
    _counter("link.retransmits"),
    Quantity("nic.health", "flags"),  # slot-power, module-temperature, module-fault, firmware, pcie
    Quantity("bmc.link_monitor", "1", 0.0, 1.0),  # 1 = the link monitor of a node's BMC is on (L4)
    Quantity("hop.latency", "us", 0.0, 1e7),
    Quantity("hop.jitter", "us", 0.0, 1e7),
    Quantity("ring.closed", "1", 0.0, 1.0),
    _text("ring.mode", "sar_ring", "star", "allreduce"),
    _text("ring.broken_at"),  # the member, or its port, at which the library finds it broken
    _counter("comm.timeouts"),  # of the communication library, in its log
    _text("comm.last_error"),
    Quantity("switch.pfc_threshold", "B", 0.0, 1e9),
    Quantity("switch.ecn_threshold", "B", 0.0, 1e9),
    Quantity("switch.ecn", "1", 0.0, 1.0),  # 1 = marking is on
    _counter("switch.drops"),
    _counter("switch.marks"),
    _counter("switch.pauses"),
)
_CARD = (
    Quantity("card.health", "flags"),
    _celsius("card.temperature", -40.0, 150.0, 50.0),
    Quantity("card.power", "W", 0.0, 3000.0),
    _share("card.utilisation"),
    Quantity("card.memory_used", "B", 0.0, 1e13),
    Quantity("card.memory_total", "B", 0.0, 1e13),
    Quantity("card.present", "1", 0.0, 1.0),  # 0 = it was on the bus and is not
    _counter("card.errors_corrected"),
    _counter("card.errors_uncorrected"),
    _text("card.chip"),
    _text("card.serial"),
    Quantity("card.power_cap", "W", 0.0, 3000.0),
)
# Of `job/<id>` and of its ranks, `job/<id>/rank7`.
_JOB = (
    _text("job.state", "absent", "starting", "running", "saving", "waiting", "silent", "stopping", "stopped"),
    Quantity("job.world_size", "1", 0.0, 1e7),
    Quantity("job.ranks", "1", 0.0, 1e7),  # that this node's daemon hears
    Quantity("job.step", "1", 0.0, 1e15),  # the newest that all of them have done
    Quantity("job.step_time", "s", 0.0, 1e6),  # p95 of the last steps
    Quantity("job.save_time", "s", 0.0, 1e6),  # worst of the last saves, from the stall's begin to durable
    Quantity("job.stall_time", "s", 0.0, 1e6),  # worst of the last saves: how long the steps stood still
    Quantity("job.saved_step", "1", 0.0, 1e15),  # newest that is whole in shared memory
    Quantity("job.durable_step", "1", 0.0, 1e15),  # newest whose manifest is whole and verified on durable storage
    Quantity("job.durable_age", "s", 0.0, 1e9),  # since that step was taken
    _text("job.request", "none", "asked", "agreed", "saving", "saved", "durable", "withdrawn", "late", "failed"),
    _text("job.phase"),  # what the job says it does beside steps, such as `evaluation`; empty = steps
    _text("job.trouble"),  # what the vault says is wrong with the tiers of its checkpoints; empty = nothing
    Quantity("rank.step", "1", 0.0, 1e15),
    Quantity("rank.step_time", "s", 0.0, 1e6),
    Quantity("rank.beat_age", "s", 0.0, 1e9),
    _text("rank.state", "running", "saving", "waiting", "phase", "silent", "stopped", "gone"),
)
_COOLING = (
    _celsius("coolant.supply_temperature", -20.0, 110.0, 5.0),
    _celsius("coolant.return_temperature", -20.0, 110.0, 5.0),
    Quantity("coolant.flow", "L/min", 0.0, 20000.0),
    _share("coolant.valve"),
    _share("coolant.pump_speed"),
    Quantity("coolant.pressure_difference", "kPa", -1000.0, 2000.0),
    Quantity("coolant.leak", "1", 0.0, 1.0),
    Quantity("fan.speed", "rpm", 0.0, 60000.0),
    _share("fan.duty"),
    Quantity("air.flow", "m3/h", 0.0, 1e5),
    _celsius("air.temperature", -40.0, 120.0, 5.0),
    _celsius("air.dew_point", -60.0, 60.0, 2.0),
)
_PHASES = ("L1", "L2", "L3")


def _phased(name: str, unit: str, high: float) -> tuple[Quantity, ...]:
    """A quantity of the whole, and of each phase: `ups.output_va`, `ups.output_va.L1` ..."""
    return (Quantity(name, unit, 0.0, high), *(Quantity(f"{name}.{phase}", unit, 0.0, high) for phase in _PHASES))


# Of `utility/A` nothing is known but through its UPS: `ups/A`, `pdu/A1`, `pdu/A1/outlet7`.
_POWER = (
    Quantity("ups.status", "flags"),  # NUT's words, small: ol ob lb rb chrg dischrg bypass cal test off fsd over trim boost alarm eco
    _text("ups.source", "normal", "bypass", "battery", "booster", "reducer", "none"),  # RFC 1628 upsOutputSource
    _text("ups.link", "ok", "stale", "no-driver", "silent"),  # what its server says of its own line to it
    *_phased("ups.input_voltage", "V", 1000.0),  # phase to neutral; the whole is the lowest phase
    Quantity("ups.input_voltage.nominal", "V", 0.0, 1000.0),
    Quantity("ups.input_frequency", "Hz", 0.0, 100.0),
    *_phased("ups.output_voltage", "V", 1000.0),
    *_phased("ups.output_va", "VA", 1e7),
    Quantity("ups.output_power", "W", 0.0, 1e7),
    *_phased("ups.load", "%", 300.0),
    Quantity("ups.rated_va", "VA", 0.0, 1e7),
    _share("ups.charge"),
    _share("ups.charge.low"),  # the UPS's own threshold of LB
    Quantity("ups.runtime", "s", 0.0, 1e6),  # as it claims
    Quantity("ups.runtime.low", "s", 0.0, 1e6),
    Quantity("ups.battery_energy", "J", 0.0, 1e10),  # left, where a device measures it
    Quantity("ups.battery_voltage", "V", 0.0, 2000.0),
    _celsius("ups.battery_temperature", -40.0, 90.0, 5.0),
    _share("ups.battery_health"),
    _text("ups.test_result"),
    _text("ups.alarm"),  # in its own words, while it says ALARM
    _text("ups.model"),
    _text("ups.serial"),
    Quantity("pdu.voltage", "V", 0.0, 1000.0),
    Quantity("pdu.power", "W", 0.0, 1e6),
    *_phased("pdu.current", "A", 1e4),
    Quantity("pdu.rated_current", "A", 0.0, 1e4),  # of each phase
    Quantity("pdu.armed", "1", 0.0, 1.0),
    Quantity("pdu.group", "flags"),  # numbers of the outlets that are armed, as texts
    Quantity("pdu.sheddable", "flags"),  # numbers of those that the PDU itself lets be armed
    Quantity("pdu.lease_left", "s", 0.0, 1e5),
    Quantity("pdu.restore_s", "s", 0.0, 1e4),
    _text("pdu.event", "none", "armed", "fired", "restored", "expired", "disarmed"),  # its newest
    _counter("pdu.event_count"),
    Quantity("pdu.event_age", "s", 0.0, 1e10),  # since the newest firing, by the PDU's own clock
    Quantity("pdu.opened", "flags"),  # numbers of what the newest firing opened
    Quantity("pdu.shed_delay", "ms", 0.0, 1e6),  # from trigger to open contacts, by the PDU's own clock
    _text("pdu.model"),
    _text("pdu.serial"),
    _text("outlet.state", "on", "off"),
    Quantity("outlet.power", "W", 0.0, 1e5),
    Quantity("outlet.current", "A", 0.0, 1e4),
    Quantity("outlet.locked", "1", 0.0, 1.0),
    _text("reflex.state", "ok", "blind", "late", "absent"),  # of `reflex/<line>`: can it fire in time
    _counter("reflex.firings"),
    Quantity("reflex.delay", "ms", 0.0, 1e6),  # of its newest firing, bytes in to bytes out
    # Of `line/<name>`, by what went wrong; a Modbus unit's are those of its own subject.
    _counter("line.exchanges"),
    _counter("line.timeouts"),
    _counter("line.crc_errors"),
    _counter("line.echo_errors"),
    _counter("line.exceptions"),
    _counter("line.strays"),
    _text("line.state", "ok", "dormant", "refused", "lost"),
)
_HOST = (
    Quantity("host.load", "1", 0.0, 1e5),  # run-queue length averaged over one minute
    _share("host.cpu_used"),
    Quantity("host.memory_available", "B", 0.0, 1e15),
    _share("host.memory_used"),
    _share("disk.used"),
    Quantity("disk.free", "B", 0.0, 1e18),
    _celsius("host.temperature", -40.0, 130.0, 50.0),
    Quantity("host.temperature.high", "C", -40.0, 200.0),  # the part's own limit
    _text("host.top_process"),
    _counter("host.kernel_errors"),
    Quantity("host.uptime", "s", 0.0, 1e10),
    Quantity("host.clock_step", "s", -1e10, 1e10),  # how far the wall clock was set since the daemon started
)

VOCABULARY: Mapping[str, Quantity] = MappingProxyType({q.name: q for q in (*_LINK, *_CARD, *_JOB, *_COOLING, *_POWER, *_HOST)})


def find_fault(reading: Reading) -> str | None:
    """Why a reading that claims to be GOOD cannot be, by the vocabulary alone; None when it can."""
    if reading.quantity.startswith(FOREIGN):
        return _find_misfit(reading.value)
    quantity = VOCABULARY.get(reading.quantity)
    if quantity is None:
        return f"{reading.quantity} is not in the vocabulary; a quantity of your own is named x.<vendor>.<name>"
    if reading.unit != quantity.unit:
        return f"unit {reading.unit!r} where {quantity.name} is in {quantity.unit!r}"
    return _find_value_fault(reading.value, quantity)


def _find_misfit(value: Value) -> str | None:
    """Why it is no value of any quantity."""
    if value is None:
        return "no value"
    if isinstance(value, int | float) and not abs(value) < MOST:  # so that NaN is one too
        return f"{value if isinstance(value, float) else 'an endless integer'} where a number is due"
    length = 0 if isinstance(value, int | float) else len(value)
    return f"a text of {length} characters or flags, at most {LONGEST} are taken" if length > LONGEST else None


def _find_value_fault(value: Value, quantity: Quantity) -> str | None:
    misfit = _find_misfit(value)
    if value is None or misfit is not None:
        return misfit
    if quantity.unit == "text":
        if not isinstance(value, str):
            return f"{value!r} where a text is due"
        return None if quantity.words is None or value in quantity.words else f"{value!r} is none of {', '.join(sorted(quantity.words))}"
    if quantity.unit == "flags":
        return None if isinstance(value, frozenset) else f"{value!r} where a set of flags is due"
    if not isinstance(value, int | float):
        return f"{value!r} where a number is due"
    if not quantity.low <= value <= quantity.high:
        return f"{value:g} {quantity.unit} is outside {quantity.low:g} to {quantity.high:g}"
    return None


def find_jump(before: Reading, reading: Reading) -> str | None:
    """Why the change from one GOOD reading to the next cannot be; None when it can."""
    quantity = VOCABULARY.get(reading.quantity)
    if quantity is None or quantity.fastest == math.inf:
        return None
    old, new, elapsed = before.value, reading.value, reading.at - before.at
    if not isinstance(old, int | float) or not isinstance(new, int | float) or elapsed <= 0:
        return None
    if abs(new - old) <= quantity.fastest * elapsed:
        return None
    return f"{old:g} to {new:g} {quantity.unit} in {elapsed:.2g} s is faster than {quantity.fastest:g} per second"


def as_unknown(reading: Reading, note: str) -> Reading:
    """The same reading as one that could not be made, and why."""
    return msgspec.structs.replace(reading, value=None, state=State.UNKNOWN, note=note)
