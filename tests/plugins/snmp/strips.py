"""The rows of rack PDUs of four makers. Outlet 1 and 7 are on, 8 is off, 9 is in a state of its own."""

from __future__ import annotations

from tests.plugins.snmp.agents import Row, oid, typed

APC, APC2, PX2, SENTRY = "1.3.6.1.4.1.318.1.1.12", "1.3.6.1.4.1.318.1.1.26", "1.3.6.1.4.1.13742.6", "1.3.6.1.4.1.1718.3"


def write_product(product: str) -> dict[str, Row]:
    return {"1.3.6.1.2.1.1.2.0": oid(product)}


RPDU: dict[str, Row] = {
    **write_product("1.3.6.1.4.1.318.1.3.4.5"),
    f"{APC}.1.5.0": "R1",
    f"{APC}.1.6.0": "S1",
    f"{APC}.1.7.0": 32,
    f"{APC}.1.15.0": -1,
    f"{APC}.1.16.0": 1230,
    **{f"{APC}.2.3.1.1.2.{row}": typed("gauge", 50 + row) for row in (1, 2, 3)},
    **{f"{APC}.2.3.1.1.5.{row}": bank for row, bank in ((1, 0), (2, 1), (3, 2))},  # the whole, and two banks
    **{f"{APC}.3.5.1.1.4.{outlet}": state for outlet, state in ((1, 1), (7, 1), (8, 2), (9, 3))},
    **{f"{APC}.3.3.1.1.4.{outlet}": 1 for outlet in (1, 7, 8, 9)},
}
RPDU2: dict[str, Row] = {
    **write_product("1.3.6.1.4.1.318.1.3.4.6"),
    f"{APC2}.2.1.8.1": "R2",
    f"{APC2}.2.1.9.1": "S2",
    f"{APC2}.4.3.1.5.1": 123,
    f"{APC2}.4.3.1.5.2": 999,
    **{f"{APC2}.6.3.1.5.{phase}": 10 * phase for phase in (1, 2, 3)},
    **{f"{APC2}.6.3.1.6.{phase}": 230 for phase in (1, 2, 3)},
    **{f"{APC2}.9.2.3.1.5.{outlet}": state for outlet, state in ((1, 2), (7, 2), (8, 1), (9, 1))},
    **{f"{APC2}.9.2.4.1.5.{outlet}": 1 for outlet in (1, 7, 8, 9)},
    **{f"{APC2}.9.4.3.1.6.{outlet}": tenths for outlet, tenths in ((1, 19), (7, 1), (8, 0), (9, -1))},
    **{f"{APC2}.9.4.3.1.7.{outlet}": watts for outlet, watts in ((1, 430), (7, 20), (8, 0), (9, -1))},
}
PX: dict[str, Row] = {
    **write_product("1.3.6.1.4.1.13742.6"),
    f"{PX2}.3.2.1.1.3.1": "PX",
    f"{PX2}.3.2.1.1.4.1": "S3",
    f"{PX2}.5.2.3.1.4.1.1.4": 2301,
    f"{PX2}.5.2.3.1.4.1.1.5": 4321,
    f"{PX2}.3.3.4.1.7.1.1.4": 1,
    f"{PX2}.3.3.4.1.7.1.1.5": 0,
    **{f"{PX2}.5.2.4.1.4.1.1.{pole}.1": 100 * pole for pole in (1, 2)},
    **{f"{PX2}.3.3.6.1.7.1.1.{pole}.1": 2 for pole in (1, 2)},
    **{f"{PX2}.5.4.3.1.3.1.{outlet}.14": state for outlet, state in ((1, 7), (7, 7), (8, 8), (9, -1))},
    **{f"{PX2}.5.4.3.1.4.1.{outlet}.5": watts for outlet, watts in ((1, 430), (7, 20), (8, 0), (9, 0))},
    **{f"{PX2}.5.4.3.1.4.1.{outlet}.1": 1900 for outlet in (1, 7, 8, 9)},
    **{f"{PX2}.3.5.4.1.7.1.{outlet}.{sensor}": 3 if sensor == 1 else 0 for outlet in (1, 7, 8, 9) for sensor in (1, 5)},
    **{f"{PX2}.4.1.2.1.2.1.{outlet}": 1 for outlet in (1, 7, 8, 9)},
}
SENTRY3: dict[str, Row] = {
    **write_product("1.3.6.1.4.1.1718.3"),
    f"{SENTRY}.2.1.1.6.1": "S4",
    f"{SENTRY}.2.1.1.7.1": "CW",
    **{f"{SENTRY}.2.2.1.{column}.1.1": value for column, value in ((7, 362), (10, 30), (11, 2093), (12, 757))},
    f"{SENTRY}.2.2.1.7.2.1": 502,  # the other tower
    **{f"{SENTRY}.2.3.1.5.1.1.{outlet}": state for outlet, state in ((1, 1), (7, 1), (8, 0), (9, 6))},
    **{f"{SENTRY}.2.3.1.7.1.1.{outlet}": hundredths for outlet, hundredths in ((1, 187), (7, 9), (8, 0), (9, 0))},
    **{f"{SENTRY}.2.3.1.11.1.1.{outlet}": 0 for outlet in (1, 7, 8, 9)},
    **{f"{SENTRY}.2.5.1.4.1.{probe}": absent for probe, absent in ((1, 0), (2, 0), (3, 1))},
    **{f"{SENTRY}.2.5.1.6.1.{probe}": tenths for probe, tenths in ((1, 680), (2, 215), (3, -1))},
    **{f"{SENTRY}.2.5.1.13.1.{probe}": fahrenheit for probe, fahrenheit in ((1, 1), (2, 0), (3, 1))},
}
KINDS = {"apc-rpdu": RPDU, "apc-rpdu2": RPDU2, "raritan-px2": PX, "sentry3": SENTRY3}
