"""What is shown, in order."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import msgspec
import tomli_w

from demo.page import say
from demo.stage import DemoError, Stage
from sim_hardware.rack.reading import merge

HASTE = {
    "incidents": {"clear_after_s": 2},  # s; 60 by default
    "plugins": {
        "link_ber": {"clear_s": 2, "false_clear": 0.2},  # 60 s and 0.05 by default
        "fabric": {"period_s": 0.5},  # s; 5 by default
    },
}
RING, SICK, PULLED = "ring/backplane-n0", "n0/card2/port0", "n0/card4/port0"
SHOWN = '"(broker|cdu/0|n0/bmc|n0/sysfs|n0/tools|pdu/A1|ups/A|ups/A/snmp)"'  # devices of all that are served
SCENARIO = "sag-500ms"


def play(stage: Stage) -> None:
    """Everything between start and stop. Raises DemoError."""
    serve(stage)
    run_daemon(stage)
    make_link_err(stage)
    pull_module(stage)
    lift(stage)
    sag(stage)
    play_scenario(stage)
    show_end(stage)


def serve(stage: Stage) -> None:
    """The rack."""
    say("1. A rack that is not there: eight cards, their links, UPSes, PDUs, coolant unit and BMC, on ports and files of this machine.")
    stage.export("SUPERNODE_SIM_DIR", stage.rack)
    stage.start("supernode-sim serve rack-1x8")
    stage.wait("the rack to be served", lambda: (stage.rack / "endpoints.json").is_file() or None)
    stage.type(f"grep -E '{SHOWN}' " + '"$SUPERNODE_SIM_DIR/endpoints.json"')


def run_daemon(stage: Stage) -> None:
    """The daemon, and a healthy ring."""
    settings = msgspec.toml.decode((stage.rack / "n0/supernoded.toml").read_bytes())
    (stage.rack / "hasty.toml").write_text(tomli_w.dumps(merge(settings, HASTE)))
    say(
        "2. The daemon of node n0 talks to it as to real hardware. The rack came with its settings, n0/supernoded.toml; hasty.toml is "
        "the same, but looks twice a second and calls a trouble over after seconds, not minutes."
    )
    stage.start('PATH="$SUPERNODE_SIM_DIR/n0/bin:$PATH" supernoded --config "$SUPERNODE_SIM_DIR/hasty.toml"')
    stage.export("SUPERNODED_SOCKET", stage.socket)
    stage.wait("the daemon to be READY", stage.started)
    stage.type("supernodectl status")
    say("3. The truth, which only the simulator knows: the cards' ring is whole.")
    stage.type(f"supernode-sim truth {RING}")


def make_link_err(stage: Stage) -> None:
    """Bit errors, and the whole story of their incident."""
    say("4. A link begins to err: one bit in 1e10 is wrong, and the limit is one in 1e12. The daemon sees it in the port's counters.")
    stage.type(f"supernode-sim inject link.ber_ramp {SICK} rate=1e-10")
    incident = stage.wait("the incident", lambda: stage.find_incident(SICK))
    stage.type(f"supernode-sim truth {SICK} link.ber.post_fec")
    stage.type(f"supernodectl readings {SICK} --quantity link.symbol_errors")
    say("What it made of that: an event (an edge), an incident (one trouble's life), and an action, here a notice that says what to do.")
    stage.type(f"supernodectl incidents {incident.id}")


def pull_module(stage: Stage) -> None:
    """A link goes down."""
    say("5. Elsewhere a module is pulled out. The ring breaks, and traffic falls back to a slower mode:")
    stage.type(f"supernode-sim inject link.optics_unplug {PULLED}")
    stage.wait("the incident", lambda: stage.find_incident(f"cable/{PULLED}--*"))
    stage.type(f"supernode-sim truth {RING}")
    say("The daemon saw two ports go down, and made one incident of the cable that they share:")
    stage.type("supernodectl incidents")


def lift(stage: Stage) -> None:
    """Both are put right."""
    say("6. Both are put right. The ring is whole again at once; the daemon wants to see enough bits without an error first.")
    stage.type("supernode-sim lift --all")
    stage.type(f"supernode-sim truth {RING} ring.mode")


def sag(stage: Stage) -> None:
    """Meanwhile, what any other client sees of a fault."""
    say("7. Meanwhile utility A fails for 5 s. UPS A tells any client so, here in NUT's own words (OB: on battery), and the truth agrees.")
    stage.type("supernode-sim inject power.input_sag utility/A depth=1 --for 5")
    url = urlsplit(json.loads((stage.rack / "endpoints.json").read_text())["ups/A"])
    question = f"echo 'GET VAR {url.path[1:]} ups.status' >&3"
    stage.type(f"exec 3<>/dev/tcp/{url.hostname}/{url.port}; {question}; head -n 1 <&3")
    stage.type("supernode-sim truth ups/A ups.status")


def play_scenario(stage: Stage) -> None:
    """One in virtual time, won and lost."""
    say(
        "8. A scenario in virtual time, judged by what happens to the training. 64 cards whose UPS batteries are dead lose the mains for "
        "half a second. A stand-in for the daemon has armed the PDUs to shed the fans at once, so that the nodes' capacitors last:"
    )
    stage.type(f"supernodectl chaos run {SCENARIO}")
    say("The same, and nobody does anything:")
    stage.type(f"supernodectl chaos run {SCENARIO} --stand-in do-nothing", code=1)


def show_end(stage: Stage) -> None:
    """The incidents are closed; both programs end. Raises DemoError when one does so badly."""
    say("9. Back at the rack both links have been well for long enough, and their incidents are closed.")
    stage.wait("the incidents to close", lambda: stage.find_incident("*") is None or None)
    stage.type("supernodectl incidents --all")
    say("10. SIGTERM to daemon and rack.")
    ended = stage.stop()
    print(", ".join(f"{name} ended with code {code}" for name, code in ended), flush=True)
    if any(code for _, code in ended):
        raise DemoError("both should have ended with code 0")
