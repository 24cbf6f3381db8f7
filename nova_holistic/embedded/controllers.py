# SPDX-License-Identifier: Apache-2.0
"""The services of Nova with one instance each: conductor and scheduler."""

import fixtures
from nova.tests import fixtures as nova_fixtures

from nova_holistic.embedded.configuration import SCHEDULERS
from nova_holistic.embedded.waiting import EmbeddedCloudError


class Controllers(fixtures.Fixture):
    """nova-conductor, and a nova-scheduler of either kind.

    :param kind: kind of the scheduler: ``stock`` or ``holistic``
    :ivar scheduler: the running nova.service.Service
    :raises EmbeddedCloudError: the kind is unknown
    """

    def __init__(self, kind):
        super().__init__()
        self._configuration = _configuration(kind)

    def _setUp(self):
        self._configuration.setUp()
        self.addCleanup(lambda: self._configuration.cleanUp())
        self._start('conductor')
        self.scheduler = self._start('scheduler')

    def restart_scheduler(self, kind):
        """Stop the scheduler, and start a scheduler of the given kind.

        :raises EmbeddedCloudError: the kind is unknown
        """
        configuration = _configuration(kind)
        self.scheduler.stop()
        self._configuration.cleanUp()
        self._configuration = configuration
        self._configuration.setUp()
        self.scheduler = self._start('scheduler')

    def _start(self, name):
        return self.useFixture(
            nova_fixtures.ServiceFixture(name, name)).service


def _configuration(kind):
    if kind not in SCHEDULERS:
        raise EmbeddedCloudError(
            f'scheduler {kind!r}: one of {", ".join(SCHEDULERS)}')
    return SCHEDULERS[kind]()
