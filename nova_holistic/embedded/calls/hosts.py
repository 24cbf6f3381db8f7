# SPDX-License-Identifier: Apache-2.0
"""Host aggregates and compute services through Nova's API."""


class HostCalls:
    """Operations of an operator on hosts; a mixin of ``EmbeddedCloud``."""

    def aggregates(self):
        """Every host aggregate as the API lists them."""
        return self.compute.get('/os-aggregates').json()['aggregates']

    def create_aggregate(self, name, metadata, hosts=()):
        """Create a host aggregate with metadata and hosts, and return its ID.

        :param hosts: names of hosts
        """
        aggregate = self._create_aggregate(name, metadata)['id']
        for host in hosts:
            self.act_on_aggregate(aggregate, 'add_host', host=host)
        return aggregate

    def _create_aggregate(self, name, metadata):
        zone = metadata.get('availability_zone')
        aggregate = self.compute.post('/os-aggregates', json={'aggregate': {
            'name': name, 'availability_zone': zone}}).json()['aggregate']
        others = {key: value for key, value in metadata.items()
                  if key != 'availability_zone'}
        if others:
            self.act_on_aggregate(
                aggregate['id'], 'set_metadata', metadata=others)
        return aggregate

    def act_on_aggregate(self, aggregate, action, **arguments):
        """Perform an action on a host aggregate.

        :param aggregate: ID of the aggregate
        """
        self.compute.post(f'/os-aggregates/{aggregate}/action',
                          json={action: arguments})

    def aggregates_for(self, hosts):
        """The host aggregates for the zones, racks and other labels of
        EmbeddedHosts. Missing aggregates are created.

        :returns: a list of (aggregate, names of its hosts)
        """
        members = {}
        for host in hosts:
            for name, metadata in host.aggregate_metadata():
                members.setdefault(name, (metadata, []))[1].append(host.name)
        known = {aggregate['name']: aggregate
                 for aggregate in self.aggregates()}
        return [(known.get(name) or self._create_aggregate(name, metadata),
                 names) for name, (metadata, names) in members.items()]

    def place_in_aggregates(self, hosts):
        """Add EmbeddedHosts to their aggregates through the API."""
        for aggregate, names in self.aggregates_for(hosts):
            for name in names:
                self.act_on_aggregate(aggregate['id'], 'add_host', host=name)

    def compute_services(self):
        """Every nova-compute as the API lists them."""
        return self.compute.get(
            '/os-services?binary=nova-compute').json()['services']

    def compute_service(self, host):
        """The nova-compute of a host as the API shows it."""
        return self.compute.get(
            f'/os-services?binary=nova-compute&host={host}',
        ).json()['services'][0]

    def disable_compute(self, host, reason='disabled by the operator'):
        """Disable a nova-compute. It gets no new servers, and existing servers
        remain."""
        self._update_service(host, {'status': 'disabled',
                                    'disabled_reason': reason})

    def enable_compute(self, host):
        """Enable a nova-compute."""
        self._update_service(host, {'status': 'enabled'})

    def enable_computes(self):
        """Enable every disabled nova-compute."""
        for service in self.compute_services():
            if service['status'] != 'enabled':
                self.enable_compute(service['host'])

    def stop_compute(self, host):
        """Stop a nova-compute, and force its service down in Nova."""
        self.computes.stop(host)
        self._update_service(host, {'forced_down': True})

    def start_compute(self, host):
        """Start a stopped nova-compute again, and undo the forced down state.

        The compute starts first, because the host must remain down until its
        compute has removed the guests that were evacuated from it.
        """
        self.computes.restart(host)
        self._update_service(host, {'forced_down': False})

    def delete_compute_service(self, host):
        """Delete the service of a stopped nova-compute. Nova then deletes the
        host, too."""
        service = self.compute_service(host)
        self.compute.delete(f'/os-services/{service["id"]}')

    def _update_service(self, host, body):
        service = self.compute_service(host)
        self.compute.put(f'/os-services/{service["id"]}', json=body)

    def run_periodics(self):
        """Make every nova-compute report its resources."""
        self.computes.run_periodics()
