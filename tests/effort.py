# SPDX-License-Identifier: Apache-2.0
"""How many random cases the tests try: a fixed number by default, any number
by the environment variable NOVA_HOLISTIC_TEST_EFFORT, which is a factor."""

import os

from hypothesis import HealthCheck, Phase, settings

EFFORT = float(os.environ.get('NOVA_HOLISTIC_TEST_EFFORT', '1'))
PROFILE = 'nova_holistic'
"""Hypothesis' profile for every test; tests/conftest.py loads it."""
_EXAMPLES = 100
"""Cases of a test that does not say how many it tries."""


def times(number):
    """That number, multiplied by the factor."""
    return max(1, round(number * EFFORT))


def some(cases, each):
    """All cases if the factor is 1 or more, otherwise every n-th of them.

    :param each: n
    """
    return list(cases) if EFFORT >= 1 else list(cases)[::each]


def examples(number, *suppressed):
    """Hypothesis' settings for that many cases; the profile says the rest.

    :param suppressed: health checks that this test does not pass either
    """
    profile = settings.get_profile(PROFILE)
    return settings(
        profile, max_examples=times(number), suppress_health_check=[
            *profile.suppress_health_check, *suppressed])


def steps(number, length):
    """Settings of a state machine: that many runs of at most that many steps.
    """
    return settings(examples(number), stateful_step_count=length)


def long_runs(number, length):
    """Settings of a state machine with long runs: the factor multiplies the
    steps of a run, and a run that fails is not repeated to shorten it."""
    return settings(
        settings.get_profile(PROFILE), max_examples=number,
        stateful_step_count=times(length), phases=[Phase.generate])


def load_profile():
    """Every run tries the same cases, on a machine of any speed.

    By default, Hypothesis draws new cases in each run, remembers those that
    failed, and complains of cases that take longer than 200 ms.
    """
    settings.register_profile(
        PROFILE, max_examples=times(_EXAMPLES), derandomize=True,
        deadline=None, database=None, suppress_health_check=[
            HealthCheck.too_slow, HealthCheck.filter_too_much])
    settings.load_profile(PROFILE)
