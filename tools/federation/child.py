# SPDX-License-Identifier: Apache-2.0
"""The process of a child: a Nova, a Placement, an engine and the API.

It is a fork (``forks.py``). Its argument is a JSON object with the keys
``hosts`` and ``keystone`` (see ``with_tokens``). A host is a list of name,
rack and VCPUs.
"""

# This import comes first, because it selects green threads for everything that
# is imported later.
import nova_holistic.embedded  # noqa: F401, I100

import importlib
import json
import sys
import threading

from oslo_policy import opts as policy_opts
from sqlalchemy import orm
import webob

from nova_holistic.api.app import make_app
from nova_holistic.embedded.calls.servers import CloudUser
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.embedded.demo import usage_accounts
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
import tests.fast_sqlite  # noqa: F401
from tools.federation.http_server import serve
from tools.federation.identity import parts, with_tokens
from tools.federation.nova import Nova, PREFIX
from tools import garbage

EXPIRY_INTERVAL = 0.5
"""Interval in seconds of the search for expired leases."""
FLAVOR = 'small', 2, 512, 1
"""Name, VCPUs, MiB of memory and GiB of disk of the only flavor."""


class Control:
    """Operations in the cloud in addition to the group API, for tests and
    users. Each method serves the path ``/control/METHOD``."""

    def __init__(self, cloud):
        self._cloud = cloud

    def __call__(self, environ, start_response):
        request = webob.Request(environ)
        method = getattr(self, request.path_info.rpartition('/')[2])
        answer = webob.Response(json_body=method(
            **(request.json_body if request.body else {})))
        return answer(environ, start_response)

    def create(self, name, group, member, project):
        """Create a server with a pointer, and wait until it is active."""
        cloud = self._cloud
        server = cloud.create_server(
            name, FLAVOR[0], {'group': group, 'member': member},
            user=CloudUser(project))
        active = cloud.wait_for_status(server, 'ACTIVE')
        return {'id': server, 'status': active['status'],
                'host': active['OS-EXT-SRV-ATTR:host']}

    def delete(self, project):
        """Delete all servers of a project."""
        for each in self._cloud.servers(project):
            self._cloud.delete_server(each['id'])
        return {}

    def reconcile(self):
        """Compare the table with Nova and Placement, as an engine does at
        intervals."""
        return self._cloud.reconciler.reconcile()

    def report(self, project):
        """Return the servers as Nova reports them, the holds in the table, and
        the differences between Placement's usages and their sum."""
        cloud = self._cloud
        servers = cloud.servers(project)
        held = [row for group in cloud.table.list_groups()
                for row in cloud.table.members(group.uuid)]
        return {
            'servers': {each['id']: each['OS-EXT-SRV-ATTR:host']
                        for each in servers},
            'groups': [group.idempotency_key
                       for group in cloud.table.list_groups()],
            'held': sorted(f'{row.group_uuid}/{row.member.path}'
                           for row in held if row.held),
            'used': sum(each.get('VCPU', 0)
                        for each in cloud.usages().values()),
            'differences': usage_accounts.differences(
                cloud.usages(), usage_accounts.of_servers(servers),
                usage_accounts.of_holds(held))}


def preload():
    """Import what Nova imports only when it starts, and prepare the tables of
    all services."""
    importlib.import_module('nova.api.openstack.compute.routes')
    orm.configure_mappers()


def main():
    options = json.loads(sys.argv[1])
    hosts = [EmbeddedHost(name, rack=rack, vcpus=vcpus)
             for name, rack, vcpus in options['hosts']]
    with EmbeddedCloud(hosts) as cloud:
        cloud.create_flavor(*FLAVOR)
        policy_opts.set_defaults(cloud.conf, policy_file='none.yaml')
        engine = DirectEngine(
            cloud.conf, cloud.clock, PlanningParts(
                cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle))
        keystone = options.get('keystone')
        api = with_tokens(make_app(
            cloud.conf, cloud.table, engine, cloud.clock, parts(keystone)),
            keystone)
        others = {'/control/': Control(cloud), f'{PREFIX}/': Nova(cloud)}
        stop = threading.Event()
        threading.Thread(target=_expire, args=(cloud, stop),
                         daemon=True).start()

        def application(environ, start_response):
            return next(
                (each for prefix, each in others.items()
                 if environ['PATH_INFO'].startswith(prefix)), api)(
                     environ, start_response)

        garbage.search_less()
        serve(application, 0)
        stop.set()


def _expire(cloud, stop):
    while not stop.wait(EXPIRY_INTERVAL):
        cloud.lifecycle.expire()
