# SPDX-License-Identifier: Apache-2.0
"""Insert thousands of hosts, without a service for each."""

from nova_holistic.embedded.host_insertion import compute_nodes, providers


class HostInsertion:
    """Mixed into the cloud."""

    def insert_hosts(self, hosts):
        """Add hosts that can be scheduled to, but on which nothing runs.

        A server sent to one stays in BUILD. The scheduler is restarted, so
        that it knows the hosts as it would after any start.

        :param hosts: EmbeddedHosts, none of which is there already
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
        """Put hosts into aggregates in Nova; the aggregates' UUIDs by host."""
        uuids = {host.name: [] for host in hosts}
        members = {}
        for aggregate, names in self.aggregates_for(hosts):
            members[aggregate['id']] = names
            for name in names:
                uuids[name].append(aggregate['uuid'])
        compute_nodes.insert_in_aggregates(members)
        return uuids
