# SPDX-License-Identifier: Apache-2.0
"""Weights of preferences as exact fractions, and what sums of them share."""

from collections.abc import Iterable
from fractions import Fraction
import functools
from math import gcd


@functools.lru_cache(maxsize=4096)
def exact(weight: float) -> Fraction:
    """The decimal number that the user wrote: 0.1 is a tenth."""
    return Fraction(repr(float(weight)))


def common_step(weights: Iterable[Fraction]) -> Fraction:
    """The largest fraction of which each weight is a whole multiple; 0 where
    there are no weights but 0."""
    step = Fraction(0)
    for each in weights:
        step = Fraction(
            gcd(step.numerator * each.denominator,
                each.numerator * step.denominator),
            step.denominator * each.denominator)
    return step
