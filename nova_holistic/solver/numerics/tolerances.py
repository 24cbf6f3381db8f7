# SPDX-License-Identifier: Apache-2.0
"""Tolerances of solvers, errors of floating-point sums, and limits of exact
arithmetic.

Unlike the limits in ``solver.limits``, these numbers are not settings: with
other values, answers may be wrong.
"""

FEASIBILITY = 1e-6
"""Tolerance of solvers for a row, relative to the row's largest number."""

INTEGRALITY = 1e-6
"""Difference from an integer that solvers ignore."""

BOUND_ERROR = 1e-6
"""Relative error of a bound of a solver, or of a sum of prices."""

COST_ERROR = 1e-5
"""Error of a solver's answer, relative to the largest weight."""

CBC_BOUND_ERROR = 0.0005
"""Error of the bound in the log of CBC, which has three decimals."""

ARITHMETIC = 1e-9
"""Error of sums of coefficients and counts, relative to their size."""

PRICE_UNITS = 2**30
"""Units of the largest price, if prices are rounded to whole numbers for exact
arithmetic."""

SUM_ROUNDING = 1e-12
"""Rounding error of sums of prices and of utilisations, relative to their
size. With demands from 1 to 1e9, prices can be much larger than their
differences."""

UTILISATION_ROUNDING = 1e-13
"""Rounding error of one utilisation: one member of 1e9 adds 1e-9."""

EQUAL_COSTS = 1e-7
"""Difference up to which costs and values are considered equal."""

EQUAL_PRICES = 1e-11
"""Share of the largest price that is negligible on a host."""

EQUAL_COEFFICIENTS = 1e-13
"""Share of a row's largest coefficient up to which its coefficients are
considered equal."""

DISTINCT_COEFFICIENTS = 1e-3
"""Share of a row's largest coefficient above which solvers reliably
distinguish coefficients."""

PRICE_DIGITS = 9
"""Decimals up to which prices are compared."""

BOUND_DIGITS = 7
"""Decimals of the bounds that determine the order of exploring nodes."""

FAR_APART = 2**16
"""Largest integer that solvers distinguish in one row: their tolerances are
about a millionth."""

DIGIT_BASE = 2**12
"""Base of the digits of integers that are too far apart."""

EXACT_FLOATS = 2.0**53
"""Integers and sums of integers up to this number are exact as floats."""

LARGEST_AMOUNT = 2**48
"""Larger amounts are reduced to this amount, so that sums over a cloud fit an
int64. Placement's largest total times its largest ratio is smaller."""

UNLIMITED_MEMBERS = 2**31
"""Number of members if nothing limits them."""

UNLIMITED_COUNT = 2**62
"""The limit of a count if no policy limits it."""

LOWER_LIMIT_REWARD = 1e9
"""Value of one step towards a lower limit of a hard policy. It exceeds the
value of any preference."""

NO_PROBING = 1 << 15
"""Bit that disables probing in the presolve of HiGHS."""

PRIMAL_SIMPLEX = 4
"""Number of the primal simplex method in HiGHS."""

EQUAL_LOADS = 1e-9
"""Difference up to which loads of a host, as shares, are considered equal."""
