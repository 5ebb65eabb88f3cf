"""The weight of a unit's rows: so that a unit with many rows counts for no more than its share in any rank."""

from __future__ import annotations

from sordino.core.parameters import whole

# Weights of rows are whole multiples of one part of so many.
WEIGHT_STEPS = 1 << 16


def row_weight(rows: int, most: int) -> int:
    """The weight of each of a unit's rows: WEIGHT_STEPS·min(1, most/rows), rounded down.

    All rows together then weigh at most ``most``·WEIGHT_STEPS, and each is rounded by less than 2^-16 of a row. In an
    engine: LEAST(WEIGHT_STEPS, (WEIGHT_STEPS·most) div rows).
    """
    rows, most = whole("rows", rows, least=1), whole("most", most, least=1)
    return min(WEIGHT_STEPS, WEIGHT_STEPS * most // rows)
