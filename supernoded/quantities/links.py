"""Links, rings, switches."""

from __future__ import annotations

from supernoded.quantities.shape import Quantity, celsius, counter, text

LINK = (
    Quantity("link.state", "1", 0.0, 1.0),
    Quantity("link.enabled", "1", 0.0, 1.0),  # 0 = switched off by an administrator
    text("link.phys_state"),  # in small letters: linkup, polling, disabled, sleep, training ...
    Quantity("link.speed", "Gb/s", 0.0, 3200.0),
    Quantity("link.width", "1", 0.0, 64.0),  # lanes in use
    Quantity("link.mtu", "B", 0.0, 1e6),
    Quantity("link.bits", "bit", 0.0, 2.0**69, counter=True),  # 64-bit counters of 4-octet words
    counter("link.symbol_errors"),
    counter("link.effective_errors"),  # errors left after correction, as the device counts them
    counter("link.receive_errors"),
    counter("link.discards"),
    counter("link.recoveries"),
    counter("link.downed"),
    Quantity("link.recent_downs", "1", 0.0, 1e6),  # of a device's own records, in its last hour
    counter("link.waits"),
    text("link.fec"),  # the code in use, such as `rs-fec (544,514)`, or `none`
    counter("link.fec.corrected"),  # bits of a port, or of one lane
    counter("link.fec.uncorrected"),  # code words
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
    celsius("link.temperature", -40.0, 150.0, 10.0),
    Quantity("link.temperature.low", "C", -60.0, 200.0),
    Quantity("link.temperature.high", "C", -60.0, 200.0),
    text("link.neighbour"),  # the port at the other end as a subject, else `system/port` as it names itself
    text("link.probe", "success", "failed", "fault", "unreachable", "time-out", "starting"),  # of a peer, by the device
    counter("link.pauses_sent"),
    counter("link.pauses_received"),
    counter("link.cnp_sent"),
    counter("link.cnp_received"),
    counter("link.ecn_marked"),
    counter("link.retransmits"),
    Quantity("nic.health", "flags"),  # slot-power, module-temperature, module-fault, firmware, pcie
    Quantity("bmc.link_monitor", "1", 0.0, 1.0),  # 1 = the link monitor of a node's BMC is on (L4)
    Quantity("hop.latency", "us", 0.0, 1e7),
    Quantity("hop.jitter", "us", 0.0, 1e7),
    Quantity("ring.closed", "1", 0.0, 1.0),
    text("ring.mode", "sar_ring", "star", "allreduce"),
    text("ring.broken_at"),  # the member, or its port, at which the library finds it broken
    counter("comm.timeouts"),  # of the communication library, in its log
    text("comm.last_error"),
    Quantity("switch.pfc_threshold", "B", 0.0, 1e9),
    Quantity("switch.ecn_threshold", "B", 0.0, 1e9),
    Quantity("switch.ecn", "1", 0.0, 1.0),  # 1 = marking is on
    counter("switch.drops"),
    counter("switch.marks"),
    counter("switch.pauses"),
)
