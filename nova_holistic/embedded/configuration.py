# SPDX-License-Identifier: Apache-2.0
"""The options that an operator sets in nova.conf for this project."""

import os

import fixtures
import nova.conf
from nova import service
from nova.tests import fixtures as nova_fixtures

from nova_holistic import conf
from nova_holistic.scheduler import connections, driver
from nova_holistic.table import migration

CONF = nova.conf.CONF
LEVELS = ('az', 'rack', 'host')


class HolisticOptions(fixtures.Fixture):
    """A new placement table in a folder, and the levels of the topology.

    :ivar connection: SQLAlchemy URL of the table
    """

    def __init__(self, directory):
        super().__init__()
        path = os.path.join(directory, 'table.sqlite')
        self.connection = f'sqlite:///{path}'

    def _setUp(self):
        conf.register_opts(CONF)
        self.useFixture(nova_fixtures.ConfPatcher(
            group='holistic_database', connection=self.connection))
        self.useFixture(nova_fixtures.ConfPatcher(
            group='topology', levels=list(LEVELS)))
        migration.upgrade(self.connection)
        self.addCleanup(connections.reset)


class StockScheduler(fixtures.Fixture):
    """While it is active, a nova-scheduler starts with Nova's own driver."""


class HolisticScheduler(fixtures.Fixture):
    """While it is active, a nova-scheduler starts as nova-holistic-scheduler,
    with this project's filter and weigher in addition to those in nova.conf.
    """

    def _setUp(self):
        self.useFixture(fixtures.MonkeyPatch(
            'nova.service.SERVICE_MANAGERS', dict(service.SERVICE_MANAGERS)))
        driver.install()
        self._override('scheduler', 'driver', 'holistic_scheduler')
        for name, value in (
                ('available_filters',
                 'nova_holistic.scheduler.filters.all_filters'),
                ('enabled_filters', 'HolisticGroupFilter'),
                ('weight_classes',
                 'nova_holistic.scheduler.weights.all_weighers')):
            values = list(CONF.filter_scheduler[name])
            if value not in values:
                self._override('filter_scheduler', name, [*values, value])

    def _override(self, group, name, value):
        self.addCleanup(CONF.set_override, name, CONF[group][name], group)
        CONF.set_override(name, value, group)


SCHEDULERS = {'stock': StockScheduler, 'holistic': HolisticScheduler}
