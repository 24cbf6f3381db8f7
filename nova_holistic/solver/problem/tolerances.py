# SPDX-License-Identifier: Apache-2.0
"""Tolerances of solvers, errors of floating-point sums, and limits of exact
arithmetic.

These numbers are not settings, unlike the limits in ``solver.limits``: with
other values answers may be wrong.
"""

FEASIBILITY = 1e-6
"""Tolerance of solvers for a row, relative to the largest number in it."""

INTEGRALITY = 1e-6
"""Difference from a whole number that solvers take for none."""

BOUND_ERROR = 1e-6
"""Error of a bound of a solver, or of a sum of prices, relative to it."""

COST_ERROR = 1e-5
"""Error of a solver's answer, relative to the largest weight."""

CBC_BOUND_ERROR = 0.0005
"""Error of the bound in the log of CBC, which has three decimals."""

ARITHMETIC = 1e-9
"""Error of sums of coefficients and counts, relative to their size."""

SUM_ROUNDING = 1e-12
"""Rounding error of sums of prices and of utilisations, relative to their
size. With demands from 1 to 1e9, prices can be much larger than their
differences."""

UTILISATION_ROUNDING = 1e-13
"""Rounding error of one utilisation: one member of 1e9 adds 1e-9."""

EQUAL_COSTS = 1e-7
"""Difference of costs and values up to which they are equal."""

EQUAL_PRICES = 1e-11
"""Share of the largest price that makes no difference on a host."""

EQUAL_COEFFICIENTS = 1e-13
"""Share of the largest coefficient of a row by which equal ones differ."""

DISTINCT_COEFFICIENTS = 1e-3
"""The same share above which solvers distinguish coefficients reliably."""

PRICE_DIGITS = 9
"""Decimals of prices, beyond which they are equal."""

BOUND_DIGITS = 7
"""Decimals of bounds in the order in which nodes are explored."""

FAR_APART = 2**16
"""Solvers distinguish whole numbers up to this in one row: their tolerances
are about a millionth."""

DIGIT_BASE = 2**12
"""Base of the digits of whole numbers that are too far apart."""

EXACT_FLOATS = 2.0**53
"""Whole numbers up to this are exact as floats, and so are their sums."""

LARGEST_AMOUNT = 2**48
"""Larger amounts are cut to this one: sums over a cloud then fit an int64, and
Placement's largest total times its largest ratio is below it."""

UNLIMITED_MEMBERS = 2**31
"""Number of members where nothing limits them."""

UNLIMITED_COUNT = 2**62
"""The limit of a count where no policy limits it."""

LOWER_LIMIT_REWARD = 1e9
"""Value of a step towards a lower limit of a hard policy: more than any
preference."""

NO_PROBING = 1 << 15
"""Bit of the presolve rule of HiGHS that is switched off."""

PRIMAL_SIMPLEX = 4
"""Number of the primal simplex method in HiGHS."""
