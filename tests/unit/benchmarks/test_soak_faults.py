# SPDX-License-Identifier: Apache-2.0
"""A soak test fails because of failed operations, remaining rows and growth,
but not because the cloud is slower than the requested rate."""

import pytest

from benchmarks import growth, leaks, soak_faults

QUARTER = {'median': 100, 'min': 99, 'max': 101}
FLAT = {'first': QUARTER, 'last': QUARTER}
NUMBERS = dict.fromkeys(leaks.QUERIES, 3)
FOUND = {
    'rate': 5.0, 'ends': [1.0], 'missed': 10_000, 'failures': {},
    'before': NUMBERS, 'after': NUMBERS,
    'growth': {'engine': dict.fromkeys(growth.TOLERANCE, FLAT)}}


def test_an_unreached_rate_is_not_a_fault():
    assert soak_faults.faults(FOUND) == []


@pytest.mark.parametrize('changed', [
    {'failures': {'ValueError: no': 2}},
    {'after': {**NUMBERS, 'consumers in Placement': 4}},
    {'growth': {'engine': {**FOUND['growth']['engine'], 'memory': {
        **FLAT, 'last': {**QUARTER, 'median': 200}}}}}])
def test_each_fault_is_a_sentence(changed):
    assert len(soak_faults.faults({**FOUND, **changed})) == 1
