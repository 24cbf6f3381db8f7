# SPDX-License-Identifier: Apache-2.0
"""NumInstancesFilter and AggregateNumInstancesFilter: the number of servers on
a host does not exceed the limit of nova.conf or of the metadata of its
aggregates."""

from collections.abc import Mapping, Sequence

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import HostFacts
from nova_holistic.constraints.server_limits import Limit

PLAIN, AGGREGATE = 'NumInstancesFilter', 'AggregateNumInstancesFilter'
NAME = 'servers by max_instances_per_host'
KEY = 'max_instances_per_host'


def is_enabled(options: NovaOptions) -> bool:
    """Whether Nova limits the number of servers on a host."""
    return bool({PLAIN, AGGREGATE} & options.enabled_filters)


def limit(options: NovaOptions, facts: Sequence[HostFacts],
          servers: Mapping[str, int]) -> Limit:
    """
    :param options: with one of the filters enabled
    :param servers: number of servers on each host, including held places
    """
    enabled = options.enabled_filters
    return Limit(NAME, {
        each.host.name: min(_most(options, each, name) for name
                            in (PLAIN, AGGREGATE) if name in enabled)
        for each in facts}, servers)


def _most(options: NovaOptions, facts: HostFacts, name: str) -> int:
    most = options.max_instances_per_host
    if name == PLAIN:
        return most
    try:
        return min(map(int, facts.values.get(KEY, ())), default=most)
    except ValueError:
        # Nova then uses its option.
        return most
