# SPDX-License-Identifier: Apache-2.0
"""What preferences can cost: sums of whole violations at their weights."""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, gcd

_SAFE = 1e-5
"""What a solver's answer may be off by, of the largest weight."""


def grain(weights: Iterable[float]) -> float:
    """What every such sum is a multiple of; 0 where all sums are possible."""
    found = Fraction(0)
    for weight in weights:
        # As it is written: 0.1 is a tenth.
        each = Fraction(repr(float(weight)))
        found = Fraction(
            gcd(found.numerator * each.denominator,
                each.numerator * found.denominator),
            found.denominator * each.denominator) if found else each
    return float(found)


def at_least(bound: float, weights: Iterable[float]) -> float:
    """A cost that no plan's preferences are below, where a solver says that
    theirs is the bound or more."""
    weights = [*weights]
    off = _SAFE * max(max(weights, default=0.0), abs(bound))
    step = grain(weights)
    low = bound - off
    if low <= 0:
        return 0.0
    # Where multiples lie closer than the solver is exact, none is told.
    return ceil(low / step) * step if step > 4 * off else low
