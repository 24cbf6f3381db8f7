# SPDX-License-Identifier: Apache-2.0
"""The steps of one create, computed from the spans that an engine recorded.

A span is a dict, one line of the trace that ``benchmarks.traced_engine``
writes: ``name``, ``labels``, ``thread``, and ``begin`` and ``end`` in seconds
of CLOCK_MONOTONIC, which all processes of a machine share. All functions are
pure.
"""

import bisect
import json
import math
import statistics

STEPS = ('request', 'snapshot', 'plan', 'table', 'holds', 'alternates',
         'engine', 'answer')
"""In the order in which they are printed. ``request``: until an engine works
on the create. ``engine``: what the engine does between the other steps.
``answer``: from the commit that makes the group planned until the client
knows it."""
AFTER_HELD = ('alternates', 'answer')
"""Steps that begin when the group is planned and held."""
WAITING = ('snapshot', 'holds')
"""Steps in which a create sends requests to Placement and waits for them."""

_STEP_OF = {
    'nova_holistic_snapshot_seconds': 'snapshot',
    'nova_holistic_solve_seconds': 'plan',
    'nova_holistic_hold_seconds': 'holds',
    'nova_holistic_alternates_seconds': 'alternates',
    'table': 'table'}
CONFLICT = 409
HTTP = 'http'
"""Name of the spans of requests; the label ``service`` says to whom."""


def read_spans(text):
    """The spans of a trace; an unfinished last line is left out."""
    complete = text[:text.rfind('\n') + 1]
    return [json.loads(line) for line in complete.splitlines()]


def percentile(values, share):
    """The nearest-rank percentile: the smallest value that at least the share
    of all values does not exceed.

    :param share: above 0, and at most 1
    :raises ValueError: there are no values
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError('a percentile of no values')
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def spread(values):
    """Median, minimum and maximum."""
    return {'median': statistics.median(values), 'min': min(values),
            'max': max(values)}


def slope(points):
    """The least-squares slope of (x, y) points; 0 for fewer than two."""
    if len({x for x, _ in points}) < 2:
        return 0.0
    return statistics.linear_regression(*zip(*points)).slope


def union_length(intervals):
    """Length of the union of (begin, end) intervals."""
    length, until = 0.0, -math.inf
    for begin, end in sorted(intervals):
        length += max(0.0, end - max(begin, until))
        until = max(until, end)
    return length


def innermost(spans, begin, end):
    """(begin, end, step) intervals that do not overlap and fill the time.

    A moment belongs to the shortest span that contains it, and to the step
    ``engine`` if none does.

    :param spans: of one thread, with names of steps
    """
    marks = sorted({begin, end, *(
        min(max(moment, begin), end) for span in spans
        for moment in (span['begin'], span['end']))})
    intervals = []
    for first, last in zip(marks, marks[1:]):
        around = [s for s in spans
                  if s['begin'] <= first and last <= s['end']]
        shortest = min(around, key=lambda s: s['end'] - s['begin'],
                       default=None)
        step = _STEP_OF[shortest['name']] if shortest else 'engine'
        if intervals and intervals[-1][2] == step:
            intervals[-1] = (intervals[-1][0], last, step)
        else:
            intervals.append((first, last, step))
    return intervals


def of_create(spans, sent, answered):
    """(begin, end, step) intervals of one create.

    :param sent: when the client asked, or the engine was started
    :param told: when the client knew that the group is planned
    :raises ValueError: no engine planned anything in this time
    """
    within = [s for s in spans if sent <= s['begin'] and s['end'] <= answered]
    solved = [s for s in within
              if s['name'] == 'nova_holistic_solve_seconds']
    if not solved:
        raise ValueError('no plan in this time')
    own = [s for s in within if s['thread'] == solved[-1]['thread']
           and s['name'] in _STEP_OF]
    begin = min(s['begin'] for s in own)
    held = max(s['end'] for s in own if s['name'] == 'table'
               and s['labels']['kind'] == 'write')
    intervals = [(sent, begin, 'request'),
                 *innermost(
                     [s for s in own if s['begin'] < held], begin, held),
                 (held, answered, 'answer')]
    # An engine may choose alternates in another thread, or after the answer.
    intervals.extend((s['begin'], s['end'], 'alternates') for s in spans
                     if s['name'] == 'nova_holistic_alternates_seconds'
                     and s['begin'] >= sent and s not in own)
    return intervals


def summary(intervals, samples, spans):
    """For each step its wall-clock time, the processor time of each process,
    and the number and wall-clock time of the requests to each service. The
    number of answers with the status 409 is there under ``409``.

    :param intervals: as ``of_create`` returns them
    :param samples: ``Samples``
    """
    requests = [s for s in spans if s['name'] == HTTP]
    costs = {}
    for begin, end, step in intervals:
        cost = costs.setdefault(
            step, {'wall': 0.0, 'cpu': {}, 'requests': {}, 'waited': {}})
        cost['wall'] += end - begin
        for process, used in samples.between(begin, end).items():
            cost['cpu'][process] = cost['cpu'].get(process, 0.0) + used
        inside = [s for s in requests if begin <= s['begin'] < end]
        for service in {s['labels']['service'] for s in inside}:
            own = [(s['begin'], min(s['end'], end)) for s in inside
                   if s['labels']['service'] == service]
            cost['requests'][service] = (
                cost['requests'].get(service, 0) + len(own))
            cost['waited'][service] = (
                cost['waited'].get(service, 0.0) + union_length(own))
        conflicts = sum(s['labels'].get('status') == CONFLICT for s in inside)
        if conflicts:
            cost['requests']['409'] = (
                cost['requests'].get('409', 0) + conflicts)
    return costs


class Samples:
    """Processor seconds of processes, as they were at some moments."""

    def __init__(self):
        self._moments, self._used = [], []

    def add(self, moment, used):
        """:param used: processor seconds so far by name of the process"""
        self._moments.append(moment)
        self._used.append(dict(used))

    def between(self, begin, end):
        """Processor seconds by name, interpolated between the samples."""
        first, last = self._at(begin), self._at(end)
        return {name: max(0.0, last[name] - first.get(name, 0.0))
                for name in last}

    def _at(self, moment):
        if not self._moments:
            return {}
        after = bisect.bisect_left(self._moments, moment)
        if after == 0:
            return self._used[0]
        if after == len(self._moments):
            return self._used[-1]
        before, later = self._moments[after - 1], self._moments[after]
        part = (moment - before) / (later - before)
        return {name: value + part * (self._used[after][name] - value)
                for name, value in self._used[after - 1].items()
                if name in self._used[after]}
