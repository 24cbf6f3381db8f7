# SPDX-License-Identifier: Apache-2.0
"""The number of random cases of the tests. It is fixed by default, and
multiplied by the environment variable NOVA_HOLISTIC_TEST_EFFORT."""

import os

from hypothesis import HealthCheck, Phase, settings

EFFORT = float(os.environ.get('NOVA_HOLISTIC_TEST_EFFORT', '1'))
PROFILE = 'nova_holistic'
"""The Hypothesis profile of every test; tests/conftest.py loads it."""
_EXAMPLES = 100
"""Number of cases of a test that does not state a number."""


def times(number):
    """Return the number multiplied by the factor, at least 1."""
    return max(1, round(number * EFFORT))


def some(cases, each):
    """Return all cases if the factor is 1 or more, otherwise every n-th of
    them.

    :param each: n
    """
    return list(cases) if EFFORT >= 1 else list(cases)[::each]


def examples(number, *suppressed):
    """Return Hypothesis settings for this number of cases. The profile sets
    the rest.

    :param suppressed: additional health checks that this test does not pass
    """
    profile = settings.get_profile(PROFILE)
    return settings(
        profile, max_examples=times(number), suppress_health_check=[
            *profile.suppress_health_check, *suppressed])


def steps(number, length):
    """Return settings of a state machine with a maximum number of runs and of
    steps."""
    return settings(examples(number), stateful_step_count=length)


def long_runs(number, length):
    """Return settings of a state machine with long runs. The factor multiplies
    the steps of a run, and a failed run is not repeated to shorten it."""
    return settings(
        settings.get_profile(PROFILE), max_examples=number,
        stateful_step_count=times(length), phases=[Phase.generate])


def load_profile():
    """Load a profile with which every run tries the same cases, at any speed
    of the machine.

    By default, Hypothesis draws new cases in each run, stores those that
    failed, and fails for cases that take longer than 200 ms.
    """
    settings.register_profile(
        PROFILE, max_examples=times(_EXAMPLES), derandomize=True,
        deadline=None, database=None, suppress_health_check=[
            HealthCheck.too_slow, HealthCheck.filter_too_much])
    settings.load_profile(PROFILE)
