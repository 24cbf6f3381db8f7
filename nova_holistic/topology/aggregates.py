# SPDX-License-Identifier: Apache-2.0
"""Racks and rooms from the metadata of host aggregates."""

from collections.abc import Collection, Mapping, Sequence

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.base import Aggregate, Location, TopologyDriver
from nova_holistic.topology.errors import InvalidLevels
from nova_holistic.topology.level_names import name_hosts, ZONE_KEY
from nova_holistic.topology.levels import check_levels

ZONE = 'az'
"""The level that is Nova's availability zone."""


class AggregatesTopology(TopologyDriver):
    """The location of a host comes from its aggregates' metadata, level by
    level.

    The level ``az`` is the availability zone. As in Nova, a host in no zone is
    in the default zone. Any other level is the metadata key of that name; a
    host
    without it has no known location from that level down. Domains are
    identified by their whole path, so ``az1/rack1`` and ``az2/rack1`` are two
    racks.
    """

    def __init__(self, levels: Sequence[str], labels: Sequence[str] = (),
                 default_zone: str = 'nova'):
        """:raises InvalidLevels: the levels do not form a tree"""
        self.levels = check_levels(levels, labels)
        self._labels = tuple(labels)
        self._default_zone = default_zone

    @classmethod
    def from_conf(cls, conf) -> 'AggregatesTopology':
        try:
            return cls(conf.topology.levels, conf.topology.labels,
                       conf.topology.default_availability_zone)
        except InvalidLevels as error:
            raise InvalidLevels(f'[topology] levels: {error}') from error

    def locate(self, hosts: Collection[str],
               aggregates: Collection[Aggregate]) -> Mapping[str, Location]:
        names = {level: name_hosts(level, level, aggregates)
                 for level in (*self.levels, *self._labels)
                 if level not in (ZONE, HOST)}
        zones = name_hosts(ZONE, ZONE_KEY, aggregates)
        names[ZONE] = {host: zones.get(host, self._default_zone)
                       for host in hosts}
        return {host: Location(
            path=self._path(host, names),
            labels=FrozenMapping({label: names[label][host]
                                  for label in self._labels
                                  if host in names[label]}),
            availability_zone=names[ZONE][host]) for host in hosts}

    def _path(self, host: str,
              names: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
        path: list[str] = []
        for level in self.levels[:-1]:
            if host not in names[level]:
                break
            path.append(names[level][host])
        return tuple(path)
