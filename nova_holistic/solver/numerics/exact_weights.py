# SPDX-License-Identifier: Apache-2.0
"""Weights of preferences as exact fractions, and their common divisor."""

from collections.abc import Iterable
from fractions import Fraction
import functools
from math import gcd


@functools.lru_cache(maxsize=4096)
def exact(weight: float) -> Fraction:
    """The exact decimal number that the user wrote: 0.1 is one tenth."""
    return Fraction(repr(float(weight)))


def common_step(weights: Iterable[Fraction]) -> Fraction:
    """The largest fraction of which each weight is an integer multiple; 0 if
    all weights are 0."""
    step = Fraction(0)
    for each in weights:
        step = Fraction(
            gcd(step.numerator * each.denominator,
                each.numerator * step.denominator),
            step.denominator * each.denominator)
    return step
