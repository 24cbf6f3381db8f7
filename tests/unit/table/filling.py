# SPDX-License-Identifier: Apache-2.0
"""Rows of other projects, which the queries for one group must not read."""

from datetime import timedelta
import functools

import sqlalchemy as sa

from nova_holistic.table.records import GroupStatus
from nova_holistic.table import rows
from nova_holistic.table.schema.action_model import ActionRow
from nova_holistic.table.schema.binding_model import BindingRow
from nova_holistic.table.schema.boot_models import BootRow, BootServerRow
from nova_holistic.table.schema.created_volume_models import (
    CreatedVolumeRow, VolumeCreationRow)
from nova_holistic.table.schema.deleted_groups import DeletedGroupRow
from nova_holistic.table.schema.detached_servers import DetachedServerRow
from nova_holistic.table.schema.federation_models import (
    ChildCredentialRow, PartRow)
from nova_holistic.table.schema.link_models import LinkDemandRow
from nova_holistic.table.schema import models
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow
from tests.unit.table import builders

NOON = builders.NOON
LONG_AGO = NOON.replace(year=2020)
OTHERS = 10_000
"""Number of groups of other projects, each with one member."""
PLANS = 1_000
"""Number of plans and of volumes of other projects. PostgreSQL reads an empty
table completely if its daemon has counted the rows."""
SHARE = 20
"""One of this number of groups in ``fill_all`` is planned. The first read of
``OutlineCache`` reads all planned groups."""
FILLED = (models.GroupRow, models.MemberRow, models.EventRow, models.PlanRow,
          models.RefusalRow, models.StatisticRow, BindingRow, BootRow,
          BootServerRow, ActionRow, DetachedServerRow, PartRow,
          ChildCredentialRow, LinkDemandRow, VolumeRow, VolumeCreationRow,
          CreatedVolumeRow, DeletedGroupRow)
"""Tables that ``fill_all`` fills. The others have a row for each job of an
engine, for each host that is unavailable, and for each uplink."""


@functools.cache
def others(number=OTHERS, share=2):
    """Values of the groups and members of other projects.

    :param share: one of this number of groups is planned; the others are
        released
    """
    groups = [builders.a_group(
        GroupStatus.RELEASED if at % share else GroupStatus.PLANNED,
        project_id=f'red-{at % 100}', name=f'shop-{at}',
        idempotency_key=f'key-{at}',
        created_at=NOON + timedelta(seconds=at),
        lease_expires_at=NOON + timedelta(days=1))
        for at in range(number)]
    members = [member for group in groups
               for member in builders.members_of(group, {'web': None})]
    return ([rows.group_values(group) for group in groups],
            [rows.member_values(row, 0) for row in members])


def fill(table):
    """Write the rows of other projects."""
    groups, members = others()
    with table.database.writer() as session:
        session.execute(sa.insert(GroupRow), groups)
        session.execute(sa.insert(MemberRow), members)
        session.execute(sa.insert(models.PlanRow.__table__),
                        [_plan(at) for at in range(PLANS)])
        session.execute(sa.insert(VolumeRow.__table__),
                        [_volume(group, at)
                         for at, group in enumerate(groups[:PLANS])])
    analyze(table, [GroupRow, MemberRow, models.PlanRow, VolumeRow])


def fill_all(table, number, models_to_fill=FILLED):
    """Fill the tables of models of rows.

    :param number: rows in each of them. No group or member has changed lately
    """
    groups, members = others(number, SHARE)
    old = {'changed_at': LONG_AGO}
    filling = {
        GroupRow: [{**values, **old} for values in groups],
        MemberRow: [{**values, **old, 'host': f'old-{at}'}
                    for at, values in enumerate(members)],
        models.EventRow: [_event(group, at)
                          for at, group in enumerate(groups)],
        models.PlanRow: [_plan(at) for at in range(number)],
        models.RefusalRow: [_refusal(group, at)
                            for at, group in enumerate(groups)],
        models.StatisticRow: [
            {'host': f'old-{at}', 'name': 'load', 'value': 1.0,
             'updated_at': NOON} for at in range(number)],
        BindingRow: [_binding(group) for group in groups],
        BootRow: [_boot(group) for group in groups],
        BootServerRow: [
            {'group_uuid': group['uuid'], 'path': 'db/web', 'state': 'active',
             'tries': 1, 'updated_at': LONG_AGO} for group in groups],
        ActionRow: [_action(group) for group in groups],
        DetachedServerRow: [
            {'group_uuid': group['uuid'], 'instance_uuid': builders.new_uuid(),
             'detached_at': LONG_AGO} for group in groups],
        PartRow: [_part(group) for group in groups],
        LinkDemandRow: [{'group_uuid': group['uuid'], 'link': 'old',
                         'mbps': 1} for group in groups],
        VolumeRow: [_volume(group, at) for at, group in enumerate(groups)],
        VolumeCreationRow: [_creation(group) for group in groups],
        CreatedVolumeRow: [
            {'group_uuid': group['uuid'], 'path': 'db/data',
             'state': 'kept', 'tries': 1, 'refused_pools': [],
             'updated_at': LONG_AGO} for group in groups],
        DeletedGroupRow: [{'uuid': builders.new_uuid(),
                           'deleted_at': LONG_AGO} for _ in range(number)],
        ChildCredentialRow: [
            {'user_id': f'user-{at}', 'project_id': 'red', 'child': 'dfw',
             'credential': 'secret', 'updated_at': LONG_AGO}
            for at in range(number)]}
    with table.database.writer() as session:
        for row in models_to_fill:
            session.execute(sa.insert(row.__table__), filling[row])
    analyze(table, models_to_fill)


def _event(group, number):
    return {'group_uuid': group['uuid'], 'kind': 'group.status',
            'at': NOON + timedelta(seconds=number), 'reasons': [],
            'details': {}, 'service': ''}


def _plan(number):
    return {'uuid': builders.new_uuid(), 'project_id': f'red-{number % 100}',
            'user_id': 'ann', 'name': 'shop', 'status': 'planned',
            'document': {}, 'objective': 'spread', 'created_at': NOON,
            'updated_at': NOON + timedelta(seconds=number)}


def _refusal(group, number):
    return {'group_uuid': group['uuid'], 'description': 'db/web',
            'host': f'old-{number}', 'refused_by': 'filter',
            'refused_at': LONG_AGO}


def _binding(group):
    return {'kind': 'server-group', 'target': builders.new_uuid(),
            'group_uuid': group['uuid'], 'path': 'db/web',
            'created_at': LONG_AGO}


def _boot(group):
    return {'group_uuid': group['uuid'], 'project_id': group['project_id'],
            'user_id': 'ann', 'status': 'complete', 'rollback': False,
            'retries': 0, 'stopping': False, 'open': False, 'attempts': 0,
            'created_at': LONG_AGO, 'updated_at': LONG_AGO}


def _action(group):
    return {'group_uuid': group['uuid'], 'position': 0, 'member': 'db/web',
            'instance_uuid': builders.new_uuid(), 'kind': 'migrate',
            'state': 'started', 'from_host': 'old-1', 'to_host': 'old-2',
            'reasons': []}


def _part(group):
    return {'idempotency_key': f'p-{group["uuid"]}-1-dfw',
            'group_uuid': group['uuid'], 'child': 'dfw', 'name': 'shop',
            'child_group': builders.new_uuid(), 'paths': ['db/web'],
            'state': 'committed', 'updated_at': LONG_AGO}


def _volume(group, number):
    return {'group_uuid': group['uuid'], 'position': 0, 'path': 'db/data',
            'description': 'db/data', 'size_gb': 10, 'pool': f'old-{number}',
            'location': [], 'labels': {}, 'state': 'released',
            'updated_at': LONG_AGO}


def _creation(group):
    return {'group_uuid': group['uuid'], 'project_id': group['project_id'],
            'user_id': 'ann', 'status': 'complete',
            'due_at': NOON + timedelta(days=9), 'updated_at': LONG_AGO}


def analyze(table, filled):
    """Let the server count the rows of tables, which it otherwise does later.

    PostgreSQL counts the rows of all tables, as its daemon does at any time:
    the plan of a query must not depend on that time. SQLite does nothing.
    """
    engine = table.database.engine
    commands = {
        'sqlite': [],
        'mysql': [f'ANALYZE TABLE {row.__tablename__}' for row in filled],
        'postgresql': ['VACUUM ANALYZE']}[engine.dialect.name]
    with engine.connect().execution_options(
            isolation_level='AUTOCOMMIT') as link:
        for command in commands:
            link.execute(sa.text(command))
