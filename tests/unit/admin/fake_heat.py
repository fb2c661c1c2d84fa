"""What the fake desk says of coolant and heat."""

from __future__ import annotations

from supernoded.messages import CardHeat, CoolingUnit, Fan, LoopRow, NodeHeat, Pump, Thermal, ThermalHistory, Track
from supernoded.model import Level, Severity, Verdict

NOW = 1_800_000_000.0
VALVE = LoopRow(
    name="thermal.valve",
    target="cdu/0/valve",
    quantity="coolant.valve",
    scope="cdu/0",
    policy="thermal",
    engaged=True,
    value=41.5,
    unit="%",
    put_age=0.5,
    note="by energy balance: the supply transmitter is lost",
    by_hand=True,
    hand_value=41.5,
    hand_by="alice",
    hand_reason="the strainer is cleaned",
    hand_left=300.0,
    can_be_held=True,
)
FANS = LoopRow(
    name="thermal.fans",
    target="n0/fans",
    quantity="fan.duty",
    scope="node",
    policy="thermal",
    engaged=False,
    idle_because="the policy no longer acts",
    can_be_held=True,
)
ARMING = LoopRow(name="arming of pdu/A1", target="pdu/A1/shed", quantity="pdu.lease_left", scope="feed/A", policy="power", engaged=True)
UNIT = CoolingUnit(
    subject="cdu/0",
    name="cdu0",
    authority="direct",
    control="direct",
    watchdog=15.0,
    watchdog_left=14.0,
    fallback=20.0,
    supply=22.36,
    supply_colder=22.31,
    setpoint=22.0,
    return_temperature=34.5,
    primary=14.0,
    flow=812.0,
    pressure_difference=120.0,
    heat=700000.0,
    valve=41.0,
    valve_command=41.5,
    pumps=(Pump(subject="cdu/0/pump1", state="running", speed=72.0), Pump(subject="cdu/0/pump2", state="off")),
    level_percent=81.0,
    leak=False,
    leak_sticky=True,
    dew_point=12.5,
    alarms=("supply-sensor",),
    band_margin=-0.06,
    dew_margin=7.81,
    valve_room=59.0,
    level=Level.RAISED,
    severity=Severity.WARNING,
    text="cdu/0 supplies 22.36 C, 0.36 K above its setpoint of 22 C, allowed is 0.3 K",
    judged_by="n0",
)
WARM = NodeHeat(
    node="n0",
    loop="cdu/0",
    cards=(
        CardHeat(temperature=61.2, power=590.0, throttled=False),
        CardHeat(temperature=93.4, power=410.0, throttled=True),
        CardHeat(power=600.0),
        CardHeat(temperature=74.0),
    ),
    hottest=93.4,
    hottest_card="n0/card1",
    fans=(Fan(name="fan0", speed=5200.0, duty=40.0), Fan(name="fan1")),
    fan_control="auto",
    fan_duty=40.0,
    flow=31.25,
    branch_open=True,
)
DARK = NodeHeat(node="n1", loop="cdu/0", cards=(CardHeat(),) * 4)
THERMAL = Thermal(
    now=NOW,
    loops=(VALVE, FANS, ARMING),
    units=(UNIT,),
    nodes=(WARM, DARK),
    verdicts=(
        Verdict(kind="coolant.band", subject="cdu/0", level=Level.RAISED, text=UNIT.text, at=NOW - 1),
        Verdict(kind="heat", subject="cdu/0", level=Level.CLEAR, text="cdu/0: its cards are cool", at=NOW - 1),
    ),
)
HISTORY = ThermalHistory(
    now=NOW,
    loop="cdu/0",
    since=NOW - 600,
    tracks=(
        Track(
            quantity="coolant.supply_temperature",
            unit="C",
            points=tuple((NOW - 600 + i, 22.0 if i < 300 else 23.0) for i in range(0, 600, 2)),
        ),
        Track(quantity="coolant.valve", unit="%", points=((NOW - 600, 41.0), (NOW - 1, None))),
    ),
)
