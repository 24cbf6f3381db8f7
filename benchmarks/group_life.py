# SPDX-License-Identifier: Apache-2.0
"""The life of one group, as ``benchmarks/soak.py`` repeats it."""

import contextlib
import time
import uuid

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1.session import TCPKeepAliveAdapter
from nova import context as nova_context
from nova import exception
from nova import objects
from nova.scheduler import rpcapi

from benchmarks import inserted_servers
from nova_holistic.client.client import Client
from tools.cloud import catalog

TIMEOUT = 300
"""Seconds after which a group that is not planned is a failure."""
WAIT = 60
"""Seconds for which the API may wait for a plan."""


class GroupLife:
    """Several threads may use it."""

    def __init__(self, layout, members, threads, record, servers=True):
        """
        :param members: number of members of each group
        :param threads: number of threads that use it, each of which keeps
            its connections
        :param record: called with the name and the seconds of each operation
        :param servers: whether the server becomes active. Otherwise its
            allocation is deleted after it was scheduled, as Nova's conductor
            does if the build fails
        """
        inserted_servers.configure(layout.directory)
        session = catalog.session(layout, catalog.ADMIN)
        session.session.mount(
            'http://', TCPKeepAliveAdapter(pool_maxsize=threads))
        self._owner = session.get_user_id(), session.get_project_id()
        self._groups = Client(session).groups
        self._members = members
        self._record = record
        self._placement = Adapter(session, service_type='placement',
                                  default_microversion='1.39')
        self._servers = inserted_servers.Servers(
            layout, self._placement, self._owner) if servers else None
        self._flavor = objects.Flavor.get_by_name(
            nova_context.get_admin_context(), 'small')
        self._scheduler = rpcapi.SchedulerAPI()

    def live(self):
        """Create a group and a server of it, release it, and delete both.

        :raises RuntimeError: an operation had another result
        """
        group = self.create()
        try:
            if self._servers:
                self._build_and_release(group)
            else:
                self._fail_and_release(group)
        finally:
            with self._timed('delete'):
                self._groups.delete(group)

    def _build_and_release(self, group):
        server, host = str(uuid.uuid4()), None
        try:
            with self._timed('schedule'):
                host = self._schedule(group, server)
            self._servers.create(server, host)
            with self._timed('release'):
                self._groups.release(group)
        except BaseException:
            # A life that failed leaves nothing that would count as a leak.
            # Which part of the server exists is not known.
            with contextlib.suppress(exception.InstanceNotFound,
                                     ks_exceptions.NotFound):
                self._servers.delete(server, host)
            raise
        self._servers.delete(server, host)

    def _fail_and_release(self, group):
        server = str(uuid.uuid4())
        try:
            with self._timed('schedule'):
                self._schedule(group, server)
        finally:
            self._placement.delete(f'/allocations/{server}', raise_exc=False)
        with self._timed('release'):
            self._groups.release(group)

    def create(self):
        """The id of a new group, once it is planned."""
        with self._timed('create'):
            group = self._groups.create({
                'name': 'soak', 'policies': [{'type': 'anti-affinity'}],
                'members': [{'name': 'node', 'flavor': 'small',
                             'count': self._members}]}, lease=0, wait=WAIT)
            # The API waits for a few clients at a time, and not for others.
            planned = group if group['task'] is None else (
                self._groups.wait(group['id'], TIMEOUT))
        if planned['status'] != 'planned':
            raise RuntimeError(f'not planned: {planned["reasons"]}')
        return group['id']

    def _schedule(self, group, server):
        """The host of the server of the first member."""
        context = nova_context.RequestContext(*self._owner)
        spec = objects.RequestSpec.from_components(
            context, server, {'id': str(uuid.uuid4()), 'properties': {}},
            self._flavor, None, None, {'scheduler_hints': {
                'holistic_group': [group], 'holistic_member': ['node-0']}},
            None, None, security_groups=objects.SecurityGroupList(objects=[]))
        answer, = self._scheduler.select_destinations(
            context, spec, [server], return_objects=True,
            return_alternates=True)
        return answer[0].service_host

    @contextlib.contextmanager
    def _timed(self, operation):
        begin = time.monotonic()
        yield
        self._record(operation, time.monotonic() - begin)
