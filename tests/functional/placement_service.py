# SPDX-License-Identifier: Apache-2.0
"""A real Placement in this process, and hosts in it."""

import fixtures
from keystoneauth1 import adapter, session, token_endpoint
from oslo_config import fixture as config_fixture
from placement.tests.functional.fixtures import placement

from tests.functional.fast_services import FastPlacement, keep_policies
from tests.functional.placement_database import new_conf, PlacementDatabase
from tests.services.placement_calls import PlacementCalls


class PlacementService(fixtures.Fixture, PlacementCalls):
    """Placement, on a database in memory that is empty at the beginning.

    ``providers``, ``used`` and ``consumers`` read its database, which takes
    much less time than a request.

    :ivar adapter: keystoneauth Adapter with admin rights
    :ivar endpoint: its URL, which accepts the token ``admin``
    :ivar conf: Placement's configuration
    """

    def __init__(self, database=None):
        """:param database: a fixture to use instead of PlacementDatabase"""
        super().__init__()
        self._database = database

    def setUp(self):
        super().setUp()
        self._database = self.useFixture(
            self._database or PlacementDatabase())
        # The policy enforcer of an embedded cloud is restored afterwards.
        self.useFixture(fixtures.MonkeyPatch(
            'placement.policy._ENFORCER', None))
        options = self.useFixture(config_fixture.Config(new_conf()))
        service = self.useFixture(placement.PlacementFixture(
            conf_fixture=options, db=False, register_opts=False))
        self.useFixture(FastPlacement())
        keep_policies()
        self.endpoint = service.endpoint
        self.conf = options.conf
        self.adapter = adapter.Adapter(
            session.Session(auth=token_endpoint.Token(
                service.endpoint, service.token)),
            service_type='placement')

    def add_hosts(self, names, vcpus, memory_mb):
        """Add hosts: over the API the first time, and later as a copy of the
        database.

        Nothing else may have been added to this Placement before.
        """
        key = (*names, vcpus, memory_mb)
        found = self._database.recalled(key)
        if found is None:
            found = super().add_hosts(names, vcpus, memory_mb)
            self._database.remember(key, found)
        for provider in found.values():
            self.room[provider] = {'VCPU': vcpus, 'MEMORY_MB': memory_mb}
        return found

    def providers(self):
        return self._database.providers()

    def used(self, provider):
        return self._database.used(provider)

    def consumers(self, provider):
        return self._database.consumers(provider)

    def save(self, path):
        """Copy the database to a SQLite file."""
        self._database.save(path)
