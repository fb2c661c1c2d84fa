"""What can happen to the plant, and to what families of subjects, so that a scenario that asks for what cannot be is told so."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ANYTHING = "*"

_TABLE = """
utility     utility.sag utility.restored
generator   generator.starting generator.running generator.failed generator.off
ups         ups.flagged ups.unflagged ups.on_battery ups.on_line ups.bypass ups.low_battery ups.exhausted ups.overload
ups         ups.inverter_stopped ups.output_lost ups.output_back ups.test_started ups.test_ended
breaker     breaker.tripped breaker.closed
outlet      outlet.opened outlet.closed
pdu         pdu.off pdu.back shed.armed shed.disarmed shed.fired shed.restored shed.expired
node        node.power_lost node.power_back node.off node.on node.booting
*           load.lost load.back
cdu         coolant.out_of_band coolant.in_band coolant.swing coolant.steady condensation condensation.ended
cdu         level.low level.back air air.gone primary.lost primary.back cdu.fallback cdu.control_changed
cdu,node    flow.lost flow.back leak.begun leak.ended leak.large
pump        pump.tripped pump.running pump.stopped
fan         fan.stopped fan.running
node        part.overheated
card        card.throttled card.unthrottled card.overheated card.hung card.recovered card.fell_off card.isolated card.released
card        card.replaced card.reset card.reset_begun card.uncorrectable card.out_of_memory card.shut_down
port,nic,switch  link.up link.down link.degraded link.restored module.absent module.present
cable       cable.moved
ring        ring.broken ring.closed ring.mode_changed
switch      switch.dropping switch.kept
*           block.worn block.read_error pool.synced pool.sync_failed snapshot.taken snapshot.torn
job         checkpoint.requested checkpoint.begun checkpoint.committed checkpoint.failed checkpoint.withdrawn
job         checkpoint.durable checkpoint.gone checkpoint.lost snapshot.published
job         comm.timeout
job         job.hung job.recovered job.lost job.aborted job.resumed job.restoring job.stopped job.remapped job.replica_dropped
rank        rank.silent rank.recovered
"""


def _read_table() -> Mapping[str, tuple[str, ...]]:
    rows = (line.split() for line in _TABLE.strip().splitlines())
    return MappingProxyType({kind: tuple(families.split(",")) for families, *kinds in rows for kind in kinds})


KINDS: Mapping[str, tuple[str, ...]] = _read_table()
