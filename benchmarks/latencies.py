# SPDX-License-Identifier: Apache-2.0
"""Latencies at the beginning and at the end of a soak test."""

from benchmarks import steps


def table(records):
    """p50, p95 and p99 of each operation in seconds, for the first and the
    last tenth of the operations of its kind.

    :param records: (moment, operation, seconds), in any order
    :returns: ``{operation: {'number': ..., 'beginning': {'p50': ...}, 'end':
        {'p50': ...}}}``
    """
    measured = {}
    records = sorted(records)
    for operation in sorted({name for _, name, _ in records}):
        own = [seconds for _, name, seconds in records
               if name == operation]
        tenth = max(1, len(own) // 10)
        measured[operation] = {'number': len(own), **{
            title: {f'p{share}': steps.percentile(values, share / 100)
                    for share in (50, 95, 99)}
            for title, values in (('beginning', own[:tenth]),
                                  ('end', own[-tenth:]))}}
    return measured
