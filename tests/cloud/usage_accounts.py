# SPDX-License-Identifier: Apache-2.0
"""The usages in Placement, compared with servers and holds."""

from collections import Counter, defaultdict

from keystoneauth1.adapter import Adapter
from oslo_config import cfg
import sqlalchemy as sa

from nova_holistic import conf as options
from nova_holistic.inventory import load_inventory
from tests.cloud.servers import asked_for
from tools.cloud.holistic import LEVELS
from tools.cloud.waiting import wait_for


_ALLOCATIONS = sa.text('SELECT count(*) FROM allocations')


class UsageAccounts:
    """The usages that an administrator sees."""

    def __init__(self, session):
        self._placement = Adapter(session, service_type='placement',
                                  default_microversion='1.39')
        self._compute = Adapter(session, service_type='compute')

    def used(self):
        """Amounts above zero by host and resource class."""
        return without_zero({each['name']: self._usages(each)
                             for each in self._providers()})

    def _providers(self):
        return self._get('/resource_providers')['resource_providers']

    def _usages(self, provider):
        return self._get(
            f'/resource_providers/{provider["uuid"]}/usages')['usages']

    def snapshot(self):
        """The snapshot that the planner would use."""
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        conf.set_override('levels', list(LEVELS), 'topology')
        return load_inventory(conf, placement=self._placement,
                              compute=self._compute).snapshot()

    def _get(self, path):
        return self._placement.get(path).json()


def assert_empty(layout):
    """Wait until nothing is allocated. Nova frees the allocations of a server
    after it has deleted the server.

    Placement's API needs a request for each host, which a cloud answers slowly
    if every test begins with these requests. This reads Placement's database.
    """
    engine = sa.create_engine(layout.database('placement'),
                              isolation_level='AUTOCOMMIT')
    with engine.connect() as link:
        wait_for('the last allocation to go',
                 lambda: not link.scalar(_ALLOCATIONS), pause=0.5)
    engine.dispose()


def expected(servers, held):
    """The usages for these servers and for planned members without a server.

    :param servers: Nova's documents
    :param held: host and resources of each planned member
    """
    amounts = defaultdict(Counter)
    for server in servers:
        amounts[server['OS-EXT-SRV-ATTR:host']].update(asked_for(server))
    for host, resources in held:
        amounts[host].update(resources)
    return without_zero(amounts)


def without_zero(amounts):
    positive = {host: {name: amount for name, amount in classes.items()
                       if amount} for host, classes in amounts.items()}
    return {host: classes for host, classes in positive.items() if classes}
