"""Counters of an InfiniBand port: what each is called here, and how wide it is."""

from __future__ import annotations

import msgspec

from supernoded.plugin import Reading, Value, WireError, make_reading, quote

LONGEST_NUMBER = 20  # digits of 2**64


class Counter(msgspec.Struct, frozen=True):
    """One counter of the device."""

    quantity: str
    bits: int = 64  # its width; it stays at its ceiling for ever
    unit: str = "1"
    factor: int = 1


OWN = "x.infiniband."  # how the quantities begin that are the driver's own


def _own(name: str, bits: int = 64) -> Counter:
    return Counter(f"{OWN}{name}", bits)


WORD_BITS = 32  # port_*_data count words of four octets (IBTA PortCounters)

# Widths: PORT_PMA_ATTR and PORT_PMA_ATTR_EXT of the kernel's drivers/infiniband/core/sysfs.c; data and packets by the extended set.
COUNTERS: dict[str, Counter] = {
    "symbol_error": Counter("link.symbol_errors", 16),
    "link_error_recovery": Counter("link.recoveries", 8),
    "link_downed": Counter("link.downed", 8),
    "port_rcv_errors": Counter("link.receive_errors", 16),
    "port_xmit_discards": Counter("link.discards", 16),
    "port_xmit_wait": Counter("link.waits", 32),
    "port_rcv_data": Counter("link.bits", 64, "bit", WORD_BITS),  # errors are counted on what was received
    "port_xmit_data": Counter(f"{OWN}sent_bits", 64, "bit", WORD_BITS),
    "port_rcv_remote_physical_errors": _own("port_rcv_remote_physical_errors", 16),
    "port_rcv_switch_relay_errors": _own("port_rcv_switch_relay_errors", 16),
    "port_xmit_constraint_errors": _own("port_xmit_constraint_errors", 8),
    "port_rcv_constraint_errors": _own("port_rcv_constraint_errors", 8),
    "local_link_integrity_errors": _own("local_link_integrity_errors", 4),
    "excessive_buffer_overrun_errors": _own("excessive_buffer_overrun_errors", 4),
    "VL15_dropped": _own("VL15_dropped", 16),
    **{name: _own(name) for name in ("port_rcv_packets", "port_xmit_packets")},
    **{f"{cast}_{way}_packets": _own(f"{cast}_{way}_packets") for cast in ("unicast", "multicast") for way in ("rcv", "xmit")},
}

# hw_counters are 64 bits wide; these tell of loss, congestion and retries.
HARDWARE = (
    "duplicate_request",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "out_of_buffer",
    "out_of_sequence",
    "req_cqe_error",
    "resp_cqe_error",
    "rnr_nak_retry_err",
    "roce_adp_retrans",
    "roce_slow_restart",
    "rx_icrc_encapsulated",
)
HARDWARE_COUNTERS: dict[str, Counter] = {
    "np_cnp_sent": Counter("link.cnp_sent"),
    "np_ecn_marked_roce_packets": Counter("link.ecn_marked"),
    "rp_cnp_handled": Counter("link.cnp_received"),
    "packet_seq_err": Counter("link.retransmits"),  # the peer's word that a packet is missing: each is sent again, on IB and on RoCE
    **{name: _own(name) for name in HARDWARE},
}


def read_counter(subject: str, counter: Counter, text: str | WireError, at: float) -> Reading:
    """One counter as a reading; at its ceiling, unreadable or no number: UNKNOWN, and why."""
    value, note = measure(counter, text)
    return make_reading(subject, counter.quantity, value, counter.unit, at, note)


def measure(counter: Counter, text: str | WireError) -> tuple[Value, str]:
    """The total in the unit of the quantity, or None and the reason."""
    if isinstance(text, WireError):
        return None, str(text)
    if not text.isascii() or not text.isdigit() or len(text) > LONGEST_NUMBER:
        return None, f"no number: {quote(text)}"
    total, ceiling = int(text), 2**counter.bits - 1
    if total == ceiling:
        return None, f"saturated, cannot measure ({total} is the ceiling of {counter.bits} bits; reset it)"
    return float(total * counter.factor), ""
