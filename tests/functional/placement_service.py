# SPDX-License-Identifier: Apache-2.0
"""A real Placement in this process, and hosts in it."""

import fixtures
from keystoneauth1 import adapter, session, token_endpoint
from placement.tests.functional.fixtures import placement

from tests.services.placement_calls import PlacementCalls


class PlacementService(fixtures.Fixture, PlacementCalls):
    """Placement on SQLite in memory.

    :ivar adapter: keystoneauth Adapter with admin rights
    :ivar endpoint: URL where it answers, to the token ``admin``
    :ivar conf: Placement's configuration
    """

    def setUp(self):
        super().setUp()
        service = self.useFixture(placement.PlacementFixture())
        self.endpoint = service.endpoint
        self.conf = service.conf_fixture.conf
        self.adapter = adapter.Adapter(
            session.Session(auth=token_endpoint.Token(
                service.endpoint, service.token)),
            service_type='placement')
