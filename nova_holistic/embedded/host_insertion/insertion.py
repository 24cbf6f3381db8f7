# SPDX-License-Identifier: Apache-2.0
"""Inserts thousands of hosts without services."""

from nova_holistic.embedded.host_insertion import compute_nodes, providers


class HostInsertion:
    """Inserts hosts without services; a mixin of ``EmbeddedCloud``."""

    def insert_hosts(self, hosts):
        """Add hosts that the scheduler can select, but that have no compute.

        A server on such a host remains in BUILD. This method restarts the
        scheduler, which then reads the hosts as at any start.

        :param hosts: EmbeddedHosts, none of which exists already
        """
        hosts = tuple(hosts)
        nodes = compute_nodes.insert_nodes(self.computes.cell, hosts)
        self._create_traits(hosts)
        aggregates = self._insert_in_aggregates(hosts)
        providers.insert_providers(
            [(nodes[host.name], host) for host in hosts], aggregates,
            compute_nodes.compute_traits())
        self.put_load(hosts)
        self.restart_scheduler(self.scheduler)

    def _create_traits(self, hosts):
        custom = {trait for host in hosts for trait in host.traits
                  if trait.startswith('CUSTOM_')}
        for trait in sorted(custom):
            self.placement.put(f'/traits/{trait}')

    def _insert_in_aggregates(self, hosts):
        """Add hosts to aggregates in Nova, and return the UUIDs of the
        aggregates by host."""
        uuids = {host.name: [] for host in hosts}
        members = {}
        for aggregate, names in self.aggregates_for(hosts):
            members[aggregate['id']] = names
            for name in names:
                uuids[name].append(aggregate['uuid'])
        compute_nodes.insert_in_aggregates(members)
        return uuids
