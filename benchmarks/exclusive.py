# SPDX-License-Identifier: Apache-2.0
"""The cost of exclusive groups for each create of a server without a pointer.

Real Nova and Placement in one process on SQLite. All members of the groups
have servers on separate hosts; neither the servers nor the hosts do anything.
The scheduler reads the reserved domains, as its filter does: for the first
time, without a change, after the release of one member, and after Nova has
moved one server.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
import datetime
import statistics
import time
import uuid

from nova import context as nova_context
from nova.db.api import api as api_database
from nova.db.api import models as api_models
from nova.db.main import api as main_database
from nova.db.main import models
from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler import connections
from nova_holistic.scheduler.policies import exclusion
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)

LONG_AGO = datetime.datetime(2020, 1, 1)
IN_GROUP = 100
"""Members of one group."""
DOCUMENT = {'name': 'alone', 'policies': [{'type': 'exclusive'}],
            'members': [{'name': 'node', 'flavor': 'small',
                         'count': IN_GROUP}]}
SMALL = Requirements(resources=FrozenMapping({'VCPU': 1}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--members', type=int, nargs='+',
                        default=[1000, 10000], help='members of all groups')
    parser.add_argument('--repeat', type=int, default=10)
    arguments = parser.parse_args()
    print(f'{"members":>8} {"first":>8} {"unchanged":>10} {"released":>9} '
          f'{"moved":>8}   [ms]')
    for number in arguments.members:
        with EmbeddedCloud([EmbeddedHost('cmp-0', rack='r1')]) as cloud:
            rows = [row for at in range(number // IN_GROUP)
                    for row in _group(cloud, at)]
            print(f'{number:>8} ' + ' '.join(
                f'{1000 * seconds:.1f}'.rjust(width) for seconds, width in zip(
                    _measured(cloud, rows, arguments.repeat),
                    (8, 10, 9, 8))), flush=True)


def _measured(cloud, rows, repeat):
    first = _timed()
    unchanged = statistics.median(_timed() for _ in range(repeat))
    released, moved = [], []
    for row in rows[:repeat]:
        cloud.table.change_state(
            row.id, [MemberState.BUILT], MemberState.CLAIMED,
            timeutils.utcnow())
        cloud.table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.RELEASED,
            timeutils.utcnow(), instance_uuid=None)
        released.append(_timed())
    for row in rows[repeat:2 * repeat]:
        _move(cloud, row)
        moved.append(_timed())
    return (first, unchanged, statistics.median(released),
            statistics.median(moved))


def _timed():
    begin = time.perf_counter()
    assert exclusion.closed_domains(connections.get(), None)
    return time.perf_counter() - begin


def _group(cloud, at):
    """One more group; all its members are built."""
    group = str(uuid.uuid4())
    levels = tuple(cloud.conf.topology.levels)
    cloud.table.create_group(GroupRecord(
        uuid=group, name='alone', project_id=PROJECT, user_id=USER,
        status=GroupStatus.COMPLETE, document=DOCUMENT, objective='spread',
        levels=levels, exclusive=True))
    cloud.table.write_members(group, [MemberRecord(
        id=0, group_uuid=group, hold=str(uuid.uuid4()), held=False,
        member=Member(f'node-{number}', 'node', SMALL),
        place=Place(f'far-{at}-{number}', f'far-{at}-{number}',
                    str(uuid.uuid4()), ('az1', f'r{at}', '')[
                        :len(levels) - 1]),
        state=MemberState.BUILT, instance_uuid=str(uuid.uuid4()))
        for number in range(IN_GROUP)])
    rows = cloud.table.members(group)
    _exist(cloud, rows)
    return rows


def _in_cell(cloud, work):
    with nova_context.target_cell(nova_context.get_admin_context(),
                                  cloud.computes.cell) as context:
        main_database.pick_context_manager_writer(work)(context)


def _exist(cloud, rows):
    """The servers of the members, as Nova's databases have them."""
    @api_database.context_manager.writer
    def map_to_cell(context):
        cell = context.session.scalar(sa.select(
            api_models.CellMapping.id).where(
                api_models.CellMapping.uuid == cloud.computes.cell.uuid))
        context.session.execute(sa.insert(api_models.InstanceMapping), [
            {'instance_uuid': row.instance_uuid, 'cell_id': cell,
             'project_id': PROJECT, 'user_id': USER} for row in rows])

    map_to_cell(nova_context.get_admin_context())
    _in_cell(cloud, lambda context: context.session.execute(
        sa.insert(models.Instance), [
            {'uuid': row.instance_uuid, 'project_id': PROJECT,
             'user_id': USER, 'host': row.place.host, 'vm_state': 'active',
             'updated_at': LONG_AGO} for row in rows]))


def _move(cloud, row):
    _in_cell(cloud, lambda context: context.session.execute(
        sa.update(models.Instance).where(
            models.Instance.uuid == row.instance_uuid).values(
                host='cmp-0', updated_at=timeutils.utcnow())))


if __name__ == '__main__':
    main()
