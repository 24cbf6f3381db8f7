# SPDX-License-Identifier: Apache-2.0
"""What Placement counts, against what is there."""

from collections import Counter, defaultdict

from keystoneauth1.adapter import Adapter
from oslo_config import cfg

from nova_holistic import conf as options
from nova_holistic.inventory import load_inventory
from tests.cloud.servers import asked_for
from tools.cloud.holistic import LEVELS
from tools.cloud.waiting import wait_for


class UsageAccounts:
    """As an admin sees them."""

    def __init__(self, session):
        self._placement = Adapter(session, service_type='placement',
                                  default_microversion='1.39')
        self._compute = Adapter(session, service_type='compute')

    def used(self):
        """Host to resource class to amount, without what is zero."""
        return without_zero({each['name']: self._usages(each)
                             for each in self._providers()})

    def assert_empty(self):
        """Returns when nothing is allocated; Nova frees what a server had
        after it has forgotten the server."""
        for each in self._providers():
            wait_for(f'the last allocation to go from {each["name"]}',
                     lambda: not any(self._usages(each).values()), pause=1)

    def _providers(self):
        return self._get('/resource_providers')['resource_providers']

    def _usages(self, provider):
        return self._get(
            f'/resource_providers/{provider["uuid"]}/usages')['usages']

    def snapshot(self):
        """The cloud as the planner sees it."""
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        conf.set_override('levels', list(LEVELS), 'topology')
        return load_inventory(conf, placement=self._placement,
                              compute=self._compute).snapshot()

    def _get(self, path):
        return self._placement.get(path).json()


def expected(servers, held):
    """What Placement should count for servers and members without one.

    :param servers: Nova's documents
    :param held: (host, resources) of each planned member
    """
    amounts = defaultdict(Counter)
    for server in servers:
        amounts[server['OS-EXT-SRV-ATTR:host']].update(asked_for(server))
    for host, resources in held:
        amounts[host].update(resources)
    return without_zero(amounts)


def without_zero(amounts):
    found = {host: {name: amount for name, amount in classes.items()
                    if amount} for host, classes in amounts.items()}
    return {host: classes for host, classes in found.items() if classes}
