# SPDX-License-Identifier: Apache-2.0
"""Host aggregates and compute services through Nova's API."""


class HostCalls:
    """Operations of an operator on hosts; mixed into the cloud."""

    def aggregates(self):
        """Every host aggregate as the API lists them."""
        return self.compute.get('/os-aggregates').json()['aggregates']

    def create_aggregate(self, name, metadata, hosts=()):
        """A host aggregate with metadata and hosts; its ID."""
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
        """One action on a host aggregate."""
        self.compute.post(f'/os-aggregates/{aggregate}/action',
                          json={action: arguments})

    def aggregates_for(self, hosts):
        """The zones, racks and other labels of EmbeddedHosts, created where
        they are not yet: (aggregate, names of hosts that belong in it)."""
        members = {}
        for host in hosts:
            for name, metadata in host.aggregate_metadata():
                members.setdefault(name, (metadata, []))[1].append(host.name)
        known = {aggregate['name']: aggregate
                 for aggregate in self.aggregates()}
        return [(known.get(name) or self._create_aggregate(name, metadata),
                 names) for name, (metadata, names) in members.items()]

    def place_in_aggregates(self, hosts):
        """Put hosts into their aggregates through the API."""
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
        """Disable a nova-compute: no new server, what runs stays."""
        self._update_service(host, {'status': 'disabled',
                                    'disabled_reason': reason})

    def enable_compute(self, host):
        """Undo disable_compute."""
        self._update_service(host, {'status': 'enabled'})

    def enable_computes(self):
        """Undo disable_compute wherever it was done."""
        for service in self.compute_services():
            if service['status'] != 'enabled':
                self.enable_compute(service['host'])

    def stop_compute(self, host):
        """Stop a nova-compute and tell Nova that the host is down."""
        self.computes.services[host].stop()
        self._update_service(host, {'forced_down': True})

    def start_compute(self, host):
        """Start a stopped nova-compute again, and say that it is up.

        In this order: Nova keeps the host down until its compute has removed
        the guests that were evacuated from it.
        """
        self.computes.restart(host)
        self._update_service(host, {'forced_down': False})

    def delete_compute_service(self, host):
        """Delete a nova-compute that is stopped, and with it the host."""
        service = self.compute_service(host)
        self.compute.delete(f'/os-services/{service["id"]}')

    def _update_service(self, host, body):
        service = self.compute_service(host)
        self.compute.put(f'/os-services/{service["id"]}', json=body)

    def run_periodics(self):
        """Let every nova-compute report its resources."""
        self.computes.run_periodics()
