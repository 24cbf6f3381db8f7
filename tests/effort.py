# SPDX-License-Identifier: Apache-2.0
"""How many random cases the tests try: some by default, any number by the
environment variable NOVA_HOLISTIC_TEST_EFFORT, a factor."""

import os

from hypothesis import HealthCheck, settings

EFFORT = float(os.environ.get('NOVA_HOLISTIC_TEST_EFFORT', '1'))


def times(number):
    """So many by default."""
    return max(1, round(number * EFFORT))


def examples(number):
    """Hypothesis' settings for so many cases, equal ones in each run."""
    return settings(
        max_examples=times(number), deadline=None, derandomize=True,
        database=None, suppress_health_check=[
            HealthCheck.too_slow, HealthCheck.filter_too_much])
