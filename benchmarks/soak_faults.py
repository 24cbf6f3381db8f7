# SPDX-License-Identifier: Apache-2.0
"""Why a soak test ends with an exit code other than 0.

A cloud that is too slow for the requested rate is not a fault: missed life
cycles do not count.
"""

from benchmarks import growth, leaks


def faults(results):
    """A sentence for each number that has changed or grown, and one if life
    cycles have failed.

    :param results: ``failures`` by text, ``before`` and ``after`` of
        ``leaks.counts``, and ``growth`` by process and kind
    """
    failed = sum(results['failures'].values())
    return [
        *([f'{failed} life cycles failed.'] if failed else ()),
        *leaks.differences(results['before'], results['after']),
        *(growth.sentence(name, kind, compared)
          for name, kinds in results['growth'].items()
          for kind, compared in kinds.items()
          if growth.grows(compared, growth.TOLERANCE[kind]))]
