"""What is shown, in order."""

from __future__ import annotations

import msgspec
import tomli_w

from demo.page import say
from demo.stage import DemoError, Stage
from sim_hardware.rack.reading import merge

HASTE = {
    "incidents": {"clear_after_s": 2},  # s; 60 by default
    "plugins": {
        "link_ber": {"clear_s": 2, "false_clear": 0.4},  # 60 s and 0.05 by default
        "fabric": {"period_s": 0.5, "mlxlink_s": 5},  # s; 5 and 30 by default
        "thermal": {"settle_s": 2},  # s; 5 by default
        "ascend": {"optical_s": 5, "records_s": 5, "ring_s": 5},  # s; 30, 15 and 15 by default
    },
}
RING, SICK, PULLED, MONITOR, POWER = "ring/backplane-n0", "n0/card2/port0", "n0/card4/port0", "n0", "power/site"
STANDBY = "cdu/0/pump1"
PUMP = "cdu/0/pump0"
SHOWN = '"(broker|cdu/0|n0/bmc|n0/sysfs|n0/tools|pdu/A1|ups/A|ups/A/snmp)"'  # devices of all that are served
SCENARIO = "sag-500ms"


def play(stage: Stage) -> None:
    """Everything between start and stop. Raises DemoError."""
    serve(stage)
    run_daemon(stage)
    make_link_err(stage)
    pull_module(stage)
    diagnose(stage)
    lift(stage)
    cool(stage)
    sag(stage)
    play_scenario(stage)
    show_end(stage)


def serve(stage: Stage) -> None:
    """The rack."""
    say("1. A rack that is not there: eight cards, their links, UPSes, PDUs, coolant unit and BMC, on ports and files of this machine.")
    stage.export("SUPERNODE_SIM_DIR", stage.rack)
    stage.start("supernode-sim serve direct-1x8")
    stage.wait("the rack to be served", lambda: (stage.rack / "endpoints.json").is_file() or None)
    stage.type(f"grep -E '{SHOWN}' " + '"$SUPERNODE_SIM_DIR/endpoints.json"')


def run_daemon(stage: Stage) -> None:
    """The daemon, and a healthy ring."""
    settings = msgspec.toml.decode((stage.rack / "n0/supernoded.toml").read_bytes())
    (stage.rack / "hasty.toml").write_text(tomli_w.dumps(merge(settings, HASTE)))
    say(
        "2. The daemon of node n0 talks to it as to real hardware. The rack came with its settings, n0/supernoded.toml; hasty.toml is "
        "the same, but looks at links more often and calls a trouble over after seconds, not minutes."
    )
    stage.start('PATH="$SUPERNODE_SIM_DIR/n0/bin:$PATH" supernoded --config "$SUPERNODE_SIM_DIR/hasty.toml"')
    stage.export("SUPERNODED_SOCKET", stage.socket)
    stage.wait("the daemon to be READY", stage.started)
    stage.wait("its first finding", lambda: stage.find_incident(MONITOR))
    stage.wait("all its sensors and loops to be at work", stage.all_work)
    stage.type("supernodectl status")
    say(
        "The one incident is real: this node's BMC came with its link monitor off, and that stays open until somebody switches it on. The "
        "cards' ring is whole, as the daemon sees it by cables and library, and in truth, which only the simulator knows:"
    )
    stage.wait("the hops to be measured", lambda: stage.find_reading("hop.latency"))
    stage.type("supernodectl ring")
    stage.type(f"supernode-sim truth {RING} ring.mode")


def make_link_err(stage: Stage) -> None:
    """Bit errors, and the whole story of their incident."""
    say("3. A link begins to err: one bit in 1e10 is wrong, and the limit is one in 1e12. The daemon sees it in the port's counters.")
    stage.type(f"supernode-sim inject link.ber_ramp {SICK} rate=1e-10")
    incident = stage.wait("the incident", lambda: stage.find_incident(SICK, "link.ber"))
    stage.type(f"supernode-sim truth {SICK} link.ber.post_fec")
    stage.type(f"supernodectl readings {SICK} --quantity link.symbol_errors")
    say(
        "What it made of that: an event (an edge), an incident (one trouble's life), and an action, here a notice that says what to do. "
        "Light and laser are as they were, so it does not send anybody to the cable first."
    )
    stage.wait("the modules to be looked at, and the notice", lambda: stage.find_outcome(incident))
    stage.type(f"supernodectl incidents {incident.id}")


def pull_module(stage: Stage) -> None:
    """A link goes down."""
    say("4. Elsewhere a module is pulled out. The ring breaks, and traffic falls back to a slower mode:")
    stage.type(f"supernode-sim inject link.optics_unplug {PULLED}")
    stage.wait("the incident", lambda: stage.find_incident(f"cable/{PULLED}--*"))
    stage.type(f"supernode-sim truth {RING}")
    stage.wait("the module to be missed", lambda: stage.find_incident("*", "link.optic"))
    stage.wait("the ring to be found broken", lambda: stage.find_incident(RING, "ring.broken"))
    say("The daemon saw two ports go down and made one incident of the cable that they share. It tells of the module and of the ring, too:")
    stage.type("supernodectl incidents")


def diagnose(stage: Stage) -> None:
    """Why, and what to touch."""
    stage.wait("all tools to call the link down", lambda: stage.all_call_down(PULLED))
    say("5. Three questions of whoever is sent to the rack. Which links are in trouble?")
    stage.type("supernodectl links --troubled")
    say("Where is the ring broken?")
    stage.type("supernodectl ring")
    say("What is it, and what is to be touched? The likeliest cause; + speaks for it, - against. The others, and all readings, come after.")
    stage.type(f"supernodectl diagnose {PULLED} | sed -n '/^1\\./,/newest/p'")


def lift(stage: Stage) -> None:
    """Both are put right."""
    say("6. Both are put right. The ring is whole again at once; the daemon wants to see enough bits without an error first.")
    stage.type("supernode-sim lift --all")
    stage.type(f"supernode-sim truth {RING} ring.mode")


def cool(stage: Stage) -> None:
    """The coolant, and a pump that trips."""
    say("7. Coolant: the daemon turns the primary valve itself, for the heat that arrives, so that the supply stays at 22 C.")
    stage.type("supernodectl thermal")
    say("A pump trips. Its standby is started by the unit itself; the daemon sees to it that flow and pressure come back:")
    stage.type(f"supernode-sim inject cdu.pump_fail {PUMP}")
    stage.wait("the trip to be seen", lambda: stage.find_incident("cdu/0*", "coolant.pump"))
    stage.wait("the standby to run", lambda: stage.shows(STANDBY, "pump.state", "running"))
    stage.wait("it to be told that flow is back", lambda: stage.find_incident(PUMP, "coolant.pump"))
    stage.type("supernodectl thermal history cdu/0 | grep -E 'NOW|supply|flow'")
    stage.type("supernodectl thermal | sed -n '1,/^$/p'")
    stage.type(f"supernode-sim lift cdu.pump_fail@{PUMP}")


def sag(stage: Stage) -> None:
    """From a sag to a safe step."""
    say(
        "8. Both utilities fail for 5 s. The PDUs were armed for that and shed the fans by themselves; the daemon checks that, caps the "
        "cards, and has the training save its next step while it runs on."
    )
    stage.wait("both PDUs to be armed", lambda: stage.all_show("pdu.armed", 1.0))
    stage.type("for utility in A B; do supernode-sim inject power.input_sag utility/$utility depth=1 --for 5 & done; wait")
    incident = stage.wait("the outage to be seen", lambda: stage.find_incident(POWER, "power.outage"))
    stage.wait("the step to be safe", lambda: stage.find_outcome(incident, "job.checkpoint"))
    stage.type("supernodectl power timeline")
    say("What the supplies show by now, and the training, which has not stopped:")
    stage.type("supernodectl power")
    stage.type("supernodectl jobs")


def play_scenario(stage: Stage) -> None:
    """One in virtual time, won and lost."""
    say(
        "9. A scenario in virtual time, judged by what happens to the training. 64 cards whose UPS batteries are dead lose the mains for "
        "half a second. Their daemons have armed the PDUs to shed the fans at once, so that the nodes' capacitors last:"
    )
    stage.type(f"supernodectl chaos run {SCENARIO}")
    say("The same, and nobody does anything:")
    stage.type(f"supernodectl chaos run {SCENARIO} --stand-in do-nothing", code=1)


def show_end(stage: Stage) -> None:
    """The incidents are closed; both programs end. Raises DemoError when one does so badly."""
    say("10. Back at the rack links and mains have been well for long enough: cards run uncapped, and what it gave rise to is closed.")
    stage.wait("the incidents to close", lambda: stage.find_incident("*/*") is None or None)
    stage.type("supernodectl incidents --all")
    say("11. SIGTERM to daemon and rack.")
    ended = stage.stop()
    print(", ".join(f"{name} ended with code {code}" for name, code in ended), flush=True)
    if any(code for _, code in ended):
        raise DemoError("both should have ended with code 0")
