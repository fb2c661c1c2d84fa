"""The numbers of the power plant. Those without a source are ours: usual values of the trade, nobody's promise."""

from __future__ import annotations

TOLERANCE = 0.10  # an input further off than this is lost (P3)
FREQUENCY_TOLERANCE = 2.0  # Hz; so is one whose frequency is further off
FLAG_S = 0.010  # an RMS over one cycle, renewed every half-cycle at 50 Hz, as power-quality instruments do it
USABLE = 0.80  # of the nominal voltage; below it no power supply runs

CONFIRM_S = 1.5  # of lost mains before the generator is started, so that a flicker of 1.2 s (P6) does not
BREAK_S = 0.1  # of each input when its transfer switch goes back to the mains
MAINS_STABLE_S = 30.0  # of good mains before the transfer switches go back
STAGGER_S = 5.0  # between them
COOL_DOWN_S = 60.0  # of the generator without load

RETRANSFER_S = 10.0  # of good input before a UPS leaves its battery
RECLOSE_S = 0.020  # of good input, one cycle, before a UPS without output closes its bypass
BOOST_BELOW, BOOST = 0.95, 1.08  # of the nominal voltage: the tap of a line-interactive UPS
DIRECT_EFFICIENCY = 0.99  # of bypass, ECO and a line-interactive UPS on line
POWER_FACTOR = 0.9  # of every load
OVERLOAD = (
    (1.05, -60.0),
    (1.25, 60.0),
    (1.50, 10.0),
    (float("inf"), 0.2),
)  # up to this load the inverter lasts so many s; negative: recovers
SELF_TEST_S = 10.0

BATTERY_DROP = 0.2  # share of its energy that a battery loses inside itself at rated load; half the load lasts 2.25 times as long
CHARGE_SHARE = 0.1  # of rated watts that the charger takes
CHARGE_EFFICIENCY = 0.9
TAPER_FROM, TAPER = 0.9, 0.25  # the charger is slower from this charge on
LOW_BATTERY = 0.2
REPLACE_BELOW = 0.5  # of the rated energy left
BATTERY_VOLTS = 480.0  # 240 cells
BATTERY_CELSIUS = 25.0

BREAKER_MARGIN = 1.25  # over all loads of the PDU, so that one feed can carry them at 80 %
BREAKER_TAU_S = 60.0
BREAKER_HOLDS = 1.2  # times its rating for ever; IEC 60898-1 has it between 1.13 and 1.45
BREAKER_SHORT, BREAKER_SHORT_S = 3.0, 0.020  # type B opens at once from 3 to 5 times its rating (IEC 60898-1), type C from 5 to 10
BREAKER_HOT = 0.8  # does not stay closed above this heat

INRUSH, INRUSH_S = 10.0, 0.15  # times its rating that a cold load draws, and for how long: a locked rotor, empty capacitors
HOLD_UP_S = 0.6  # of a load without a shelf (a switch, a CDU with its pumps turning): a little more than a shelf without fans
RECHARGE_S = 1.0  # of an empty shelf
DEBOUNCE_S, SWITCH_S = 0.001, 0.002  # from both contacts to open outlets: the 3 ms of P4
PDU_HOLD_UP_S = 1.0  # of a PDU's own electronics
START_GAP_S = 0.25  # between two outlets when a PDU starts: sequenced start
OTHER_WATTS = 500.0  # of a load that the rack says nothing of
