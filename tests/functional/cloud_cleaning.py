# SPDX-License-Identifier: Apache-2.0
"""Restores the initial state of an embedded cloud, and reports the differences
that remain."""

import contextlib

import sqlalchemy as sa

from nova_holistic import conf as our_conf
from nova_holistic.table.schema.models import Base

SERVICE_STATE = ('enabled', 'up')


class Cleaning:
    """The initial state of the hosts of one cloud.

    :param cloud: an EmbeddedCloud that was not used yet
    """

    def __init__(self, cloud):
        self._cloud = cloud
        self._providers = {}
        self.remember_hosts()

    def remember_hosts(self):
        """Record the state of new hosts."""
        names = {host.name for host in self._cloud.hosts}
        self._providers = {
            name: provider for name, provider in self._providers.items()
            if name in names}
        for name in names - self._providers.keys():
            self._providers[name] = self._provider(name)

    @contextlib.contextmanager
    def restored_options(self):
        """Restore all options of this project at the end."""
        before = self._options()
        try:
            yield
        finally:
            for key, value in self._options().items():
                if value != before[key]:
                    group, name = key
                    self._cloud.conf.set_override(name, before[key], group)

    def clean(self):
        """Delete everything that users, operators and engines have left.

        Hosts, their services and their resource providers remain. All
        allocations are deleted, including the load of the hosts.
        """
        self._cloud.enable_computes()
        self._delete_servers()
        for path in (*self._flavors(), *self._server_groups()):
            self._cloud.compute.delete(path)
        for consumer in self._consumers():
            self._cloud.delete_consumer(consumer)
        self.restore_aggregates()
        self._empty_table()
        self._cloud.run_periodics()

    def restore_aggregates(self):
        """Restore the host aggregates."""
        wanted = _aggregates_of(self._cloud.hosts)
        kept = set()
        for aggregate in self._cloud.aggregates():
            name, found = _contents(aggregate)
            if wanted.get(name) == found:
                kept.add(name)
                continue
            for host in aggregate['hosts']:
                self._cloud.act_on_aggregate(
                    aggregate['id'], 'remove_host', host=host)
            self._cloud.compute.delete(f'/os-aggregates/{aggregate["id"]}')
        for name in wanted.keys() - kept:
            self._cloud.create_aggregate(name, *wanted[name])

    def worn_hosts(self):
        """Hosts whose initial state cannot be restored, because their builds
        failed or their resource providers were changed, and hosts that were
        added."""
        return [host for host in self._cloud.hosts
                if self._has_failed_builds(host.name)
                or host.name not in self._providers
                or self._provider(host.name) != self._providers[host.name]]

    def leftovers(self):
        """The differences from a new cloud without load, as pairs of a name
        and the objects."""
        found = {
            'servers': self._cloud.servers(),
            'flavors': self._flavors(),
            'server groups': self._server_groups(),
            'consumers': self._consumers(),
            'rows': self._rows(),
            'guests': self._guests(),
            'used hypervisors': self._used_hypervisors(),
            'services': self._services_away(),
            'usages': [name for name, usage in self._cloud.usages().items()
                       if any(usage.values())]}
        aggregates = dict(map(_contents, self._cloud.aggregates()))
        providers = self._cloud.providers().keys()
        names = {host.name for host in self._cloud.hosts}
        if aggregates != _aggregates_of(self._cloud.hosts):
            found['aggregates'] = aggregates
        devices = {f'{host.name}_{device.name}'
                   for host in self._cloud.hosts for device in host.devices}
        if providers != names | devices:
            found['providers'] = sorted(providers ^ (names | devices))
        return [item for item in found.items() if item[1]]

    def _options(self):
        conf = self._cloud.conf
        return {(group.name, option.dest): conf[group.name][option.dest]
                for module in our_conf.MODULES
                for group, options in module.list_opts()
                for option in options}

    def _delete_servers(self):
        servers = [server['id'] for server in self._cloud.servers()]
        for server in servers:
            self._cloud.delete_server(server, wait=False)
        for server in servers:
            self._cloud.wait_until_gone(server)

    def _services_away(self):
        return [service for service in self._cloud.compute_services()
                if (service['status'], service['state']) != SERVICE_STATE]

    def _flavors(self):
        return [f'/flavors/{flavor["id"]}' for flavor in
                self._cloud.compute.get(
                    '/flavors?is_public=None').json()['flavors']]

    def _server_groups(self):
        return [f'/os-server-groups/{group["id"]}' for group in
                self._cloud.compute.get(
                    '/os-server-groups?all_projects=1',
                ).json()['server_groups']]

    def _consumers(self):
        return {consumer for name in self._cloud.providers()
                for consumer in self._cloud.consumers(name)}

    def _provider(self, name):
        """The data of a host in Placement; None if it has no provider."""
        uuid = self._cloud.providers().get(name)
        if uuid is None:
            return None
        path = f'/resource_providers/{uuid}'
        get = self._cloud.placement.get
        return (uuid, get(f'{path}/inventories').json()['inventories'],
                set(get(f'{path}/traits').json()['traits']))

    def _has_failed_builds(self, name):
        """Nova's weighers avoid a host on which the latest builds failed."""
        tracker = self._cloud.computes.services[name].manager.rt
        return bool(tracker.stats[name].get('failed_builds'))

    def _guests(self):
        return [(name, guest)
                for name, service in self._cloud.computes.services.items()
                for guest in service.manager.driver.instances]

    def _used_hypervisors(self):
        """Hosts whose nova-compute reports more usage than at the start."""
        reserved = {host.name: host.reserved_memory_mb
                    for host in self._cloud.hosts}
        hypervisors = self._cloud.compute.get(
            '/os-hypervisors/detail', microversion='2.53',
        ).json()['hypervisors']
        return [each['hypervisor_hostname'] for each in hypervisors
                if (each['running_vms'], each['vcpus_used'],
                    each['memory_mb_used'], each['local_gb_used']) != (
                        0, 0, reserved[each['hypervisor_hostname']], 0)]

    def _rows(self):
        """Tables of this project that are not empty."""
        with self._cloud.table.database.reader() as session:
            return [table.name for table in Base.metadata.sorted_tables
                    if session.execute(sa.select(table).limit(1)).first()]

    def _empty_table(self):
        with self._cloud.table.database.writer() as session:
            for table in reversed(Base.metadata.sorted_tables):
                session.execute(sa.delete(table))


def _aggregates_of(hosts):
    """Metadata and hosts of the aggregates of hosts, by name."""
    found = {}
    for host in hosts:
        for name, metadata in host.aggregate_metadata():
            found.setdefault(name, (metadata, []))[1].append(host.name)
    return {name: (metadata, sorted(names))
            for name, (metadata, names) in found.items()}


def _contents(aggregate):
    """Name of an aggregate, and its metadata and hosts."""
    return aggregate['name'], (
        aggregate['metadata'], sorted(aggregate['hosts']))
