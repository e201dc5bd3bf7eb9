"""
What air and coolant may be given to equipment, and how much heat they carry.

The temperatures are those of ASHRAE's thermal classes, a standard and not facts of one device; a device's own printed
limits go before those of its class.
"""

from __future__ import annotations

from collections.abc import Mapping

from coldaisle.spec.catalog import AshraeClass, Fit
from coldaisle.spec.cooling import Coolant

AIR_J_PER_M3_K = 1.2 * 1005
"""Heat that a cubic metre of air takes for each kelvin: 1.2 kg/m3 at 20 °C and sea level, 1005 J/(kg K)."""
WATER_J_PER_L_K = 0.997 * 4180
"""Heat that a litre of water takes for each kelvin: 0.997 kg/L and 4180 J/(kg K) at 25 °C."""
PG25_J_PER_L_K = 1.0215 * 3920
"""
Heat that a litre of water with 25 % of propylene glycol takes for each kelvin: 1.0215 kg/L and 3920 J/(kg K) at 25 °C.

P: Airedale, DeltaChill manual, tables of propylene glycol. It gives 1.5 L/min a kilowatt at 10 K, which is OCP's rule.
"""
COOLANT_J_PER_L_K: Mapping[Coolant, float] = {"water": WATER_J_PER_L_K, "pg25": PG25_J_PER_L_K}
CFM_PER_M3_S = 2118.88
"""Cubic feet a minute in a cubic metre a second."""

ALLOWED_INLET_C: Mapping[AshraeClass, tuple[float, float]] = {
    "A1": (15.0, 32.0),
    "A2": (10.0, 35.0),
    "A3": (5.0, 40.0),
    "A4": (5.0, 45.0),
    "H1": (5.0, 25.0),
}
"""Lowest and highest inlet air of each class. S: ASHRAE TC 9.9, Thermal Guidelines, allowable ranges (5th edition)."""
DERATED_ABOVE_M = 900.0
METRES_PER_K: Mapping[AshraeClass, float] = {"A1": 300.0, "A2": 300.0, "A3": 175.0, "A4": 125.0, "H1": 500.0}
"""Height that costs a kelvin of the highest inlet air, above 900 m. S: the same guidelines."""


def air_density(altitude_m: float) -> float:
    """Return the density of air at a height, as a part of that at sea level: the standard atmosphere (ISO 2533)."""
    return float((1 - 2.25577e-5 * altitude_m) ** 4.25588)


def airflow_cfm(heat_w: float | None, rise_k: float | None, altitude_m: float = 0.0) -> float | None:
    """Return the air that carries a heat load away, in cubic feet a minute: 1.76 x W / K at sea level."""
    if heat_w is None or rise_k is None:
        return 0.0 if heat_w == 0 else None
    return heat_w / (AIR_J_PER_M3_K * air_density(altitude_m) * rise_k) * CFM_PER_M3_S


def coolant_l_min(heat_w: float | None, rise_k: float | None, coolant: Coolant = "water") -> float | None:
    """Return the coolant that carries a heat load away, in litres a minute: of water 1.44 a kilowatt at 10 K."""
    if heat_w is None or rise_k is None:
        return 0.0 if heat_w == 0 else None
    return 60 * heat_w / (COOLANT_J_PER_L_K[coolant] * rise_k)


def inlet_range_c(device: Fit, altitude_m: float = 0.0) -> tuple[float | None, float | None]:
    """
    Return the lowest and the highest inlet air of a device, in degrees Celsius; None where no document says it.

    What the device's own document prints holds as printed; the highest air of a class falls with the height of the
    site.
    """
    low, high = device.inlet_min_c, device.inlet_max_c
    if device.ashrae_class is not None:
        floor, ceiling = ALLOWED_INLET_C[device.ashrae_class]
        ceiling -= max(0.0, altitude_m - DERATED_ABOVE_M) / METRES_PER_K[device.ashrae_class]
        low, high = floor if low is None else low, ceiling if high is None else high
    return low, high
