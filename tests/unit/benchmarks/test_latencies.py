# SPDX-License-Identifier: Apache-2.0
"""Latencies of the first and of the last tenth of each operation."""

from benchmarks import latencies


def test_the_first_and_the_last_tenth_have_separate_percentiles():
    records = [(moment, 'create', float(moment)) for moment in range(1000)]
    assert latencies.table(reversed(records)) == {'create': {
        'number': 1000,
        'beginning': {'p50': 49.0, 'p95': 94.0, 'p99': 98.0},
        'end': {'p50': 949.0, 'p95': 994.0, 'p99': 998.0}}}


def test_each_operation_is_counted_separately():
    found = latencies.table([(1, 'create', 5.0), (2, 'delete', 1.0),
                             (3, 'create', 9.0)])
    assert {name: each['number'] for name, each in found.items()} == {
        'create': 2, 'delete': 1}
    assert found['create']['beginning']['p99'] == 5.0
    assert found['create']['end']['p50'] == 9.0
