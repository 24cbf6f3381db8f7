# SPDX-License-Identifier: Apache-2.0
"""Engines that create servers in an embedded cloud."""

from dataclasses import dataclass, field
import datetime
import itertools
import threading
import uuid

from oslo_utils import timeutils
import pytest

from nova_holistic.boot.booter import Booter, Hooks
from nova_holistic.boot.rights import Right
from nova_holistic.boot.user_servers import UserServers
from nova_holistic.embedded.calls.servers import IMAGE, PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.boot_queue import BootQueue
from nova_holistic.service.retries import LONGEST_INTERVAL
from nova_holistic.service.workers import Workers
from nova_holistic.table.boot_records import BootRequest
from nova_holistic.table.records import GroupRecord, GroupStatus, Task

HOSTS = tuple(EmbeddedHost(name, rack=rack, vcpus=4)
              for name, rack in (('h1', 'r1'), ('h2', 'r2'), ('h3', 'r3')))
OPTIONS = {('boot', 'poll_interval'): 0.05, ('boot', 'place_timeout'): 60}
LONG = datetime.timedelta(hours=1)
SERVER = {'imageRef': IMAGE, 'networks': 'none'}


def document(count=2, **server):
    return {'name': 'shop', 'members': [{
        'name': 'web', 'count': count, 'flavor': 'small',
        'server': {**SERVER, **server}}]}


@dataclass
class KnownRights:
    """The right of one user, without Keystone.

    :ivar servers: UserServers, or a class derived from it
    :ivar ended: number of times that the right was deleted
    """

    servers: UserServers
    ended: int = 0

    def open(self, record):
        assert record.credential == 'encrypted'
        return Right(self.servers, self._end)

    def _end(self):
        self.ended += 1
        return True


@dataclass
class Boots:
    """Groups whose servers an engine creates.

    :ivar cloud: PlannedCloud
    :ivar rights: KnownRights of the user of the groups
    """

    cloud: object
    rights: KnownRights = field(init=False)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self.rights = KnownRights(UserServers(self.cloud.compute_for()))
        self._reconciling = threading.Lock()

    def ask(self, rollback=False, retries=0, wanted=None):
        """Plan a group whose servers are requested; returns its UUID."""
        group, now = str(uuid.uuid4()), timeutils.utcnow()
        self.cloud.table.create_group(GroupRecord(
            uuid=group, name='shop', project_id=PROJECT, user_id=USER,
            status=GroupStatus.PLANNING, document=wanted or document(),
            objective='spread', created_at=now, updated_at=now,
            task=Task.PLANNING, pending={'lease': 3600}),
            BootRequest('encrypted', rollback, retries))
        assert self.cloud.table.boots.waiting(now, 9) == ()
        tasks = self.cloud.table.tasks
        self.cloud.planner.perform(tasks.take(group, 'planner', now, now))
        assert self.cloud.table.boots.waiting(now, 9) == (group,)
        return group

    def take(self, group, engine='engine'):
        """Assign the boot to an engine. Other engines count as failed."""
        now = timeutils.utcnow()
        return self.cloud.table.boots.take(group, engine, now, now + LONG)

    def run(self, group, engine='engine'):
        """Let an engine create the servers of a group, or continue their
        creation."""
        booter = Booter(self.cloud.conf, self.cloud.table, self.rights,
                        timeutils.utcnow)
        return booter.run(
            self.take(group, engine),
            Hooks(self.cloud.lifecycle.release, self._changed), self.stopping)

    def workers(self, engine='engine'):
        """The worker of an engine that creates servers. Failed work is due
        immediately."""
        conf, table = self.cloud.conf, self.cloud.table
        booter = Booter(conf, table, self.rights, timeutils.utcnow)
        return Workers({'boot': BootQueue(
            conf, table.boots, booter,
            Hooks(self.cloud.lifecycle.release, self._changed),
            (engine, timeutils.utcnow))}, 1,
            itertools.count(step=2 * LONGEST_INTERVAL).__next__)

    def status(self, group):
        return str(self.cloud.table.boots.get(group).status)

    def servers(self, group):
        """Rows of the servers by the paths of their members."""
        return {row.path: row
                for row in self.cloud.table.boots.servers(group)}

    def states(self, group):
        return {path: str(row.state)
                for path, row in self.servers(group).items()}

    def _changed(self, server):
        # Several threads call this function, and the reconciler checks one
        # server at a time.
        with self._reconciling:
            self.cloud.reconciler.check_servers([server])


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options=OPTIONS) as cloud:
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


@pytest.fixture
def boots(cloud):
    return Boots(cloud)
