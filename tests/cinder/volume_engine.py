# SPDX-License-Identifier: Apache-2.0
"""An engine that creates volumes in a real Cinder, without keystone.

Tokens of Cinder's fixtures name the user and the project.
"""

from datetime import timedelta
import time
import uuid

from cinder.tests.unit import fake_constants
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
from oslo_utils import timeutils

from nova_holistic.boot.cinder_volumes import CinderVolumes
from nova_holistic.boot.errors import RightUnavailable
from nova_holistic.boot.rights import Right
from nova_holistic.boot.user_volumes import UserVolumes
from nova_holistic.boot.volume_creator import VolumeCreator
from nova_holistic.boot.volume_steps import REPEAT_AFTER
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.groups.volumes import at_plan_time
from nova_holistic.engine.errors import WorkDelayed
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.policies import load_policy_types
from nova_holistic.table.created_volumes import VolumeRequest
from nova_holistic.table.records import GroupRecord, GroupStatus, Task
from tests.cinder.planners import creator_of, NoHolds

PROJECT = fake_constants.PROJECT_ID
SERVICE_PROJECT = fake_constants.PROJECT2_ID
LONG = timedelta(hours=1)


def database(size=10, **keys):
    """A group document with two volumes that an engine creates."""
    return {'name': 'db', 'members': [
        {'name': 'node', 'resources': {'VCPU': 1}},
        {'name': 'data', 'kind': 'volume', 'count': 2, 'size': size,
         'create_at_plan_time': True, **keys}]}


class KnownRights:
    """The right of one user, without keystone.

    :ivar ended: number of times that the right was deleted
    """

    def __init__(self, volumes):
        self.volumes = volumes
        self.ended = 0
        self.expired = False

    def open(self, record):
        assert record.credential == 'encrypted'
        if self.expired:
            raise RightUnavailable('it has expired')
        return Right(None, self._end, self.volumes)

    def _end(self):
        self.ended += 1
        return True


class VolumeEngine:
    """Creates groups, and the volumes of groups.

    :ivar passed: time that has passed in addition to the real time
    :ivar alone: whether all other engines count as failed
    :ivar delayed: messages about steps that have failed
    """

    def __init__(self, cinder, tmp_path, name='engine'):
        """:param cinder: PlannedCinder"""
        self.cinder = cinder
        self.table = cinder.table
        self.name = name
        self.passed = timedelta()
        self.alone = True
        self.delayed = []
        tmp_path.mkdir(exist_ok=True)
        self.planner = creator_of(cinder, tmp_path, cinder.table)
        self.conf = self.planner._conf
        self.conf.set_override('poll_interval', 0.1, 'boot')
        self.rights = KnownRights(UserVolumes(self.adapter('u', PROJECT)))
        self.admin = CinderVolumes(self.adapter('root', SERVICE_PROJECT))
        self.creator = VolumeCreator(
            self.conf, self.table, self.rights, self.admin, self.now)
        self.lifecycle = Lifecycle(
            self.conf, self.table, NoHolds(), self.now)

    def now(self):
        return timeutils.utcnow() + self.passed

    def adapter(self, user, project):
        return Adapter(Session(Token(
            f'{self.cinder.url}/{project}', f'{user}:{project}')),
            service_type='block-storage')

    def plan(self, document, lease=3600):
        """Plan a group whose volumes are requested; returns its UUID."""
        group, now = str(uuid.uuid4()), self.now()
        self.table.create_group(GroupRecord(
            uuid=group, name=document['name'], project_id=PROJECT,
            user_id='u', status=GroupStatus.PLANNING, document=document,
            objective='spread', created_at=now, updated_at=now,
            task=Task.PLANNING, pending={'lease': lease}), None,
            VolumeRequest('encrypted', at_plan_time(
                parse_group(document, load_policy_types()))))
        tasks = self.table.tasks
        self.planner.perform(tasks.take(
            group, self.name, now, now - LONG))
        return group

    def step(self):
        """One step for all groups that are due."""
        creations, now = self.table.volumes.creations, self.now()
        stale = now + LONG if self.alone else now - LONG
        for group in creations.waiting(now, stale, 99):
            record = creations.take(group, self.name, now, stale)
            if record is not None:
                try:
                    self.creator.run(record, self.planner.replan)
                except WorkDelayed as error:
                    self.delayed.append(str(error))

    def work(self, until, seconds=60):
        """Take steps until a condition is satisfied."""
        for _ in range(int(seconds / 0.06)):
            if until():
                return
            self.step()
            time.sleep(0.06)
        raise AssertionError('the condition is not satisfied')

    def clear(self):
        """Delete all groups, and all volumes that were never used."""
        self.alone = True
        self.passed += 2 * REPEAT_AFTER
        for record in self.table.list_groups():
            self.table.delete_group(record.uuid)
        creations = self.table.volumes.creations
        self.work(lambda: not creations.waiting(
            self.now() + LONG, self.now() + LONG, 1))

    def finish(self, group, status='complete'):
        self.work(lambda: str(self.status(group)) == status)

    def status(self, group):
        found = self.table.volumes.creations.get(group)
        return found and found.status

    def volumes(self, group):
        """Rows of the volumes that the engine creates, by path."""
        return {row.path: row for row
                in self.table.volumes.creations.volumes(group)}

    def states(self, group):
        return {path: str(row.state)
                for path, row in self.volumes(group).items()}

    def pools(self, group):
        """The pool in Cinder of each volume of the group, by path."""
        return {volume['metadata']['holistic_member']:
                volume['os-vol-host-attr:host']
                for volume in self.cinder.all_volumes()
                if volume['metadata'].get('holistic_group') == group}
