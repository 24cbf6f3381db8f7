# SPDX-License-Identifier: Apache-2.0
"""Racks and rooms from the metadata of host aggregates."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from oslo_log import log as logging

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.base import Aggregate, Location, TopologyDriver
from nova_holistic.topology.errors import InvalidLevels
from nova_holistic.topology.level_names import (
    HostNames, name_hosts, name_zones)
from nova_holistic.topology.levels import check_levels

LOG = logging.getLogger(__name__)

ZONE = 'az'
"""The level that is Nova's availability zone."""


class AggregatesTopology(TopologyDriver):
    """The location of a host comes from its aggregates' metadata, level by
    level.

    The level ``az`` is the availability zone. As in Nova, a host in no zone is
    in the default zone. Any other level is the metadata key of that name; a
    host without it has no known location from that level down. Domains are
    identified by their whole path, so ``az1/rack1`` and ``az2/rack1`` are two
    racks.

    A host whose aggregates disagree at a level counts as a host without a
    name there, and an error is logged. A host that moves to another rack can
    be in both aggregates for a moment, and this must not stop the plans on all
    other hosts.
    """

    def __init__(self, levels: Sequence[str], labels: Sequence[str] = (),
                 default_zone: str = 'nova'):
        """:raises InvalidLevels: the levels do not form a tree"""
        self.levels = check_levels(levels, labels)
        self._labels = tuple(labels)
        self._default_zone = default_zone
        self._logged: Mapping[str, str] = {}

    @classmethod
    def from_conf(cls, conf) -> 'AggregatesTopology':
        try:
            return cls(conf.topology.levels, conf.topology.labels,
                       conf.topology.default_availability_zone)
        except InvalidLevels as error:
            raise InvalidLevels(f'[topology] levels: {error}') from error

    def locate(self, hosts: Collection[str],
               aggregates: Collection[Aggregate]) -> Mapping[str, Location]:
        found = {level: name_hosts(level, level, aggregates)
                 for level in (*self.levels, *self._labels)
                 if level not in (ZONE, HOST)}
        self._log_errors(hosts, found.values())
        names = {level: each.names for level, each in found.items()}
        zones = name_zones(ZONE, aggregates)
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

    def _log_errors(self, hosts: Collection[str],
                    levels: Iterable[HostNames]) -> None:
        """Log each disagreement once, until it ends or changes."""
        current = {str(error): host for names in levels
                   for host, error in names.ambiguous.items()
                   if host in hosts}
        for message in current:
            if message not in self._logged:
                LOG.error('%s. Until this is corrected, the host counts as a '
                          'host without a domain of this level.', message)
        if current or self._logged:
            self._logged = current | {
                message: host for message, host in self._logged.items()
                if host not in hosts}
