# SPDX-License-Identifier: Apache-2.0
"""Tolerances, exact weights, and bounds that are valid despite
rounding errors."""
