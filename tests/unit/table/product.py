# SPDX-License-Identifier: Apache-2.0
"""The operations of the placement table with plain arguments and results."""

from dataclasses import replace
from datetime import timedelta

from nova_holistic.table.changes.claim import SeenRows
from nova_holistic.table.changes import group_purge, group_revision
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.database import Duplicate
from nova_holistic.table import errors
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders
from tests.unit.table.model_rows import PATHS


def moment(seconds):
    return seconds if seconds is None else (
        builders.NOON + timedelta(seconds=seconds))


class Product:
    """The placement table with the methods of ``model.Model``.

    :ivar now: seconds since the beginning
    """

    def __init__(self, table):
        self._table = table
        self.now = 0

    def wait(self, seconds):
        self.now += seconds

    def create(self, uuid, lease):
        self._table.create_group(builders.a_group(
            GroupStatus.PLANNING, uuid=uuid, task=Task.PLANNING,
            lease_expires_at=moment(lease)))

    def delete(self, uuid):
        self._table.delete_group(uuid)

    def purge(self, uuid):
        return group_purge.purge(self._table.database, uuid,
                                 group_purge.Choice())

    def request(self, uuid, task, statuses, revision):
        return self._table.tasks.request(
            uuid, NewTask(Task(task), {}, statuses, revision), self._at)

    def take(self, uuid, engine, stale):
        return self._table.tasks.take(
            uuid, engine, self._at, moment(self.now - stale)) is not None

    def return_work(self, uuid, engine):
        self._table.tasks.return_work(engine, uuid)

    def finish(self, uuid, engine, status=None, lease=None):
        changes = {} if status is None else {'status': GroupStatus(status)}
        if lease is not None:
            changes['lease_expires_at'] = moment(lease)
        return self._table.tasks.finish(uuid, engine, changes)

    def extend(self, uuid, lease):
        return self._table.extend_lease(uuid, None, moment(lease), self._at)

    def settle(self, uuid):
        self._table.settle(uuid, self._at)

    def write(self, uuid, engine, holds):
        try:
            return self._table.write_members(
                uuid, self._rows(uuid, holds, 'h1'), engine)
        except Duplicate:
            return 'Duplicate'

    def revise(self, uuid, engine, renewed, removed, added):
        group = self._table.get_group(uuid)
        changes = {'status': GroupStatus.PLANNED} if (
            group and group.status not in SETTLING) else {}
        try:
            return group_revision.revise(
                self._table.database, uuid, engine, Revision(
                    changes, PATHS,
                    [(row, self._held(row, hold, 'h2',
                                      state=MemberState.PLANNED,
                                      instance_uuid=None))
                     for row, hold in renewed],
                    removed, self._rows(uuid, added, 'h2')), self._at)
        except Duplicate:
            return 'Duplicate'

    def vacate(self, uuid, engine, rows):
        return group_revision.vacate(
            self._table.database, uuid, engine, rows, self._at)

    def occupy(self, uuid, engine, holds):
        return group_revision.occupy(
            self._table.database, uuid, engine, holds, self._at)

    def offer(self, rows, holds):
        return self._table.offer_places([
            self._held(row, hold, 'h3')
            for row, hold in zip(rows, holds, strict=True)])

    def accept(self, holds):
        self._table.accept_places(holds, self._at)

    def claim(self, uuid, path, instance, seen):
        try:
            return self._table.take(
                uuid, path, instance, self._at,
                SeenRows(seen)).row.hold
        except errors.ClaimRefused as refusal:
            return type(refusal).__name__

    def change(self, row, to, **changes):
        names = {'instance': 'instance_uuid'}
        return self._table.change_state(
            row.id, [row.state], MemberState(to), self._at,
            of_hold=row.hold, of_instance=row.instance_uuid,
            **{names.get(name, name): value
               for name, value in changes.items()})

    def forget(self, holds):
        self._table.forget_holds(holds)

    def release(self, holds, with_servers):
        self._table.release(holds, self._at, with_servers)

    def expire(self, uuid):
        self._table.expire(uuid, self._at)

    def expired(self):
        return {g.uuid for g in self._table.expired_groups(self._at)}

    def release_unleased(self, row):
        return self._table.release_unleased(row, self._at)

    @property
    def _at(self):
        return moment(self.now)

    def _rows(self, uuid, holds, host):
        rows = {row.member.path.removeprefix('db/'): row
                for row in builders.members_of(
                    builders.a_group(uuid=uuid), {'web': None, 'node': 3})}
        return [self._held(replace(rows[path], member=replace(
            rows[path].member, path=path, description=PATHS[path])),
            hold, host) for path, hold in holds.items()]

    @staticmethod
    def _held(row, hold, host, **changes):
        return replace(row, hold=hold, held=True,
                       place=replace(row.place, host=host), **changes)
