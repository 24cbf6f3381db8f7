# SPDX-License-Identifier: Apache-2.0
"""Whether a value grows during a soak test. All functions are pure.

The engine looks at all hosts for the first time at the beginning, in pieces.
Therefore, the first tenth of the time is left out. The first quarter of the
rest is compared with its last quarter.
"""

from benchmarks import steps

WARM_UP = 0.1
"""The share of the time that is left out at the beginning."""
TOLERANCE = {'memory': 0.05, 'threads': 0.25, 'files': 0.25}
"""The share by which the last quarter may exceed the first one. The allocator
of Python returns memory in whole arenas, so memory is never exactly flat.
Connection pools keep the connections of the busiest moment, of which one may
be in any quarter. Each connection to RabbitMQ has a thread for its heartbeat.
A thread that stays behind after each 200th life exceeds the limit in an hour
at the rate of 5."""


def growth(points):
    """Compare the first quarter after the warm-up with the last quarter.

    :param points: (second, value) in the order of time
    :returns: ``first`` and ``last``: median, minimum and maximum of the
        quarters; ``hourly``: the slope after the warm-up, for each hour
    :raises ValueError: a quarter has no points
    """
    quarters = {
        name: [value for second, value in points if begin <= second <= end]
        for name, (begin, end) in _quarters(points).items()}
    if not all(quarters.values()):
        raise ValueError('too few points to compare two quarters')
    warm = _quarters(points)['first'][0]
    slope = steps.slope([point for point in points if point[0] >= warm])
    return {**{name: steps.spread(values)
               for name, values in quarters.items()}, 'hourly': 3600 * slope}


def cost(points, ends):
    """Processor seconds for each life in the ``first`` and the ``last``
    quarter, as ``growth`` defines them.

    Unlike a latency, it hardly depends on what else the machine does.

    :param points: (second, processor seconds until then) of a process
    :param ends: seconds at which lives ended
    """
    costs = {}
    for name, (begin, end) in _quarters(points).items():
        used = [value for second, value in points if begin <= second <= end]
        lives = sum(begin <= second <= end for second in ends)
        costs[name] = (used[-1] - used[0]) / max(1, lives)
    return costs


def grows(values, tolerance):
    """Whether the median of the last quarter exceeds the maximum of the first
    one by more than a share of it.

    The maximum, because the values of one quarter also differ from each other.
    """
    return values['last']['median'] > (1 + tolerance) * values['first']['max']


def sentence(name, kind, values):
    """The sentence about a value that has grown, with both values."""
    first, last = values['first'], values['last']
    return (f'{kind} of {name} has grown from {first["median"]:.0f} (at most '
            f'{first["max"]:.0f}) to {last["median"]:.0f}.')


def _quarters(points):
    """Begin and end of the first quarter after the warm-up and of the last
    quarter, in seconds."""
    begin, end = points[0][0], points[-1][0]
    warm = begin + WARM_UP * (end - begin)
    quarter = (end - warm) / 4
    return {'first': (warm, warm + quarter), 'last': (end - quarter, end)}
