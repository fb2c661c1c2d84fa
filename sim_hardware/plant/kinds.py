"""What can happen to the plant: every kind, so that a scenario that misspells one is told so."""

from __future__ import annotations

POWER = """
utility.sag utility.restored generator.starting generator.running generator.failed generator.off
ups.flagged ups.unflagged ups.on_battery ups.on_line ups.bypass ups.low_battery ups.exhausted ups.overload ups.inverter_stopped
ups.output_lost ups.output_back ups.test_started ups.test_ended
breaker.tripped breaker.closed outlet.opened outlet.closed pdu.off pdu.back
shed.armed shed.disarmed shed.fired shed.restored shed.expired
node.power_lost node.power_back load.lost load.back
"""
COOLING = """
coolant.out_of_band coolant.in_band coolant.swing coolant.steady condensation condensation.ended
flow.lost flow.back level.low level.back air air.gone primary.lost primary.back leak.begun leak.ended leak.large
pump.tripped pump.running pump.stopped cdu.fallback cdu.control_changed fan.stopped fan.running
part.overheated card.throttled card.unthrottled card.overheated
"""
LINKS = """
link.up link.down link.degraded link.restored module.absent module.present cable.moved
ring.broken ring.closed ring.mode_changed switch.dropping switch.kept
"""
CARDS = """
card.hung card.recovered card.fell_off card.isolated card.released card.replaced card.reset card.reset_begun
card.uncorrectable card.out_of_memory card.shut_down node.off node.on node.booting
"""
POOL = "block.worn block.read_error pool.synced pool.sync_failed snapshot.taken snapshot.torn"
JOB = """
checkpoint.requested checkpoint.begun checkpoint.committed checkpoint.failed checkpoint.withdrawn
job.hung job.recovered job.lost job.aborted job.resumed job.restoring job.stopped job.remapped rank.silent rank.recovered
"""
KINDS = frozenset(f"{POWER} {COOLING} {LINKS} {CARDS} {POOL} {JOB}".split())
