# SPDX-License-Identifier: Apache-2.0
"""During a rolling upgrade, services of the previous version work with the new
schema, and new services wait for it."""

from dataclasses import replace

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
import pytest
import sqlalchemy as sa

from nova_holistic.table.changes import alternates
from nova_holistic.table import errors
from nova_holistic.table import migration
from nova_holistic.table.queries import totals
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema import (
    created_volume_models, deleted_groups, detached_servers,
    federation_models, models, volume_model)
from nova_holistic.table.store import PlacementTable
from tests.unit.table import builders

assert deleted_groups.DeletedGroupRow.metadata is models.Base.metadata
assert detached_servers.DetachedServerRow.metadata is models.Base.metadata
assert federation_models.PartRow.metadata is models.Base.metadata
assert (created_volume_models.VolumeCreationRow.metadata
        is models.Base.metadata)
assert volume_model.VolumeRow.metadata is models.Base.metadata
"""All tables are known."""
BEFORE = '0002'
LATER = ('revision', 'idempotency_key', 'fingerprint', 'task', 'pending',
         'engine', 'engine_at', 'attempts', 'asked', 'violations',
         'unwanted', 'destination', 'alternates_due', 'alternates_engine',
         'alternates_engine_at', 'alternates_attempts', 'changed_at',
         'holds_written', 'places_version', 'objective_value', 'allocation',
         'uses_links', 'links_version', 'uses_all_hosts')
"""Columns of a group or a member that the previous version does not know."""


class VersionBefore:
    """The statements of the previous version. Each names the columns that this
    version knows."""

    def __init__(self, url):
        self._engine = sa.create_engine(url)
        self._groups = _table(models.GroupRow)
        self._members = _table(models.MemberRow)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._engine.dispose()

    def create(self, group, counts):
        values = {name: value for name, value
                  in rows.group_values(group).items() if name not in LATER}
        # A statement names the columns for which it has values.
        self._do(sa.insert(self._groups).values(values))
        for position, member in enumerate(builders.members_of(group, counts)):
            values = rows.member_values(member, position)
            self._do(sa.insert(self._members).values({
                name: values[name] for name in values if name not in LATER}))

    def change(self, group, expected, **changes):
        return self._do(sa.update(self._groups).where(
            self._groups.c.uuid == group.uuid,
            self._groups.c.status.in_(expected)).values(
                rows.group_changes(changes))).rowcount

    def claim(self, group, path, instance):
        return self._do(sa.update(self._members).where(
            self._members.c.group_uuid == group.uuid,
            self._members.c.path == path,
            self._members.c.state == MemberState.PLANNED).values(
                state=MemberState.CLAIMED, instance_uuid=instance,
                held=False)).rowcount

    def read(self, group):
        with self._engine.connect() as link:
            return link.execute(sa.select(self._groups).where(
                self._groups.c.uuid == group.uuid)).mappings().one()

    def _do(self, statement):
        with self._engine.begin() as link:
            return link.execute(statement)


def _table(row):
    """A table as the previous version knows it."""
    return sa.Table(row.__tablename__, sa.MetaData(), *(
        sa.Column(c.name, c.type, primary_key=c.primary_key)
        for c in row.__table__.c if c.name not in LATER))


def counts():
    return {'web': None, 'node': 2}


def test_an_upgrade_keeps_existing_rows(empty_url):
    migration.upgrade(empty_url, BEFORE)
    group = builders.a_group(created_at=builders.NOON)
    with VersionBefore(empty_url) as before:
        before.create(group, counts())
    migration.upgrade(empty_url)
    table = PlacementTable(empty_url)
    assert table.get_group(group.uuid) == group
    assert [m.member.path for m in table.members(group.uuid)] == [
        'db/web', 'db/node-0', 'db/node-1']
    table.database.engine.dispose()


def test_earlier_plans_have_no_additional_options(empty_url):
    migration.upgrade(empty_url, '0015')
    plan = {'uuid': builders.new_uuid(), 'project_id': 'blue',
            'user_id': 'ann', 'name': 'shop', 'status': 'planning',
            'document': {'name': 'shop'}, 'objective': 'spread'}
    table = PlacementTable(empty_url)
    with table.database.writer() as session:
        session.execute(sa.insert(sa.Table(
            'holistic_plans', sa.MetaData(),
            *(sa.Column(c.name, c.type) for c in models.PlanRow.__table__.c
              if c.name in plan))).values(plan))
    migration.upgrade(empty_url)
    assert table.plans.get(plan['uuid']).extras == ()
    asked = replace(table.plans.get(plan['uuid']), uuid=builders.new_uuid(),
                    extras=('headroom',))
    table.plans.create(asked)
    assert table.plans.get(asked.uuid) == asked
    table.database.engine.dispose()


def test_outages_are_known_after_the_upgrade(empty_url):
    migration.upgrade(empty_url, '0005')
    migration.upgrade(empty_url)
    table = PlacementTable(empty_url)
    assert table.outages.observe(['cmp-1'], builders.NOON) == {
        'cmp-1': builders.NOON}
    table.database.engine.dispose()


def test_groups_without_a_places_version_are_followed(empty_url):
    """No row from before the upgrade has such a version."""
    migration.upgrade(empty_url, BEFORE)
    group = builders.a_group(exclusive=True)
    with VersionBefore(empty_url) as before:
        before.create(group, counts())
    migration.upgrade(empty_url)
    table = PlacementTable(empty_url)
    (_, members), = table.exclusive_groups()
    assert len(members) == 3
    table.release([members[0].hold], builders.NOON)
    (_, left), = table.exclusive_groups()
    assert left == members[1:]
    table.database.engine.dispose()


@pytest.mark.parametrize(('policy', 'uses'), [
    ('spread', True), ('anti-affinity', False)])
def test_the_upgrade_marks_groups_that_use_all_hosts(empty_url, policy, uses):
    migration.upgrade(empty_url, '0029')
    table = PlacementTable(empty_url)
    group = builders.a_group(document={
        'name': 'shop', 'groups': [{'name': 'db', 'policies': [
            {'type': policy}]}]})
    known = _table(models.GroupRow)
    with table.database.writer() as session:
        session.execute(sa.insert(known).values({
            name: value for name, value in rows.group_values(group).items()
            if name in known.c}))
    migration.upgrade(empty_url)
    assert totals.any_group_uses_all_hosts(table.database) is uses
    assert table.update_group(group.uuid, [group.status],
                              status=GroupStatus.RELEASED)
    assert not totals.any_group_uses_all_hosts(table.database)
    table.database.engine.dispose()


def test_the_previous_version_works_with_the_new_schema(table, table_url):
    group = builders.a_group()
    with VersionBefore(table_url) as before:
        before.create(group, counts())
        assert table.get_group(group.uuid) == group
        instance = builders.new_uuid()
        assert before.claim(group, 'db/web', instance) == 1
        assert table.member_of_instance(instance).member.path == 'db/web'
        assert before.change(group, [GroupStatus.PLANNED],
                             status=GroupStatus.BUILDING) == 1
        assert table.get_group(group.uuid) == replace(
            group, status=GroupStatus.BUILDING)


def test_the_previous_version_reads_rows_of_the_new_one(table, table_url):
    group = builders.planned(table, builders.a_group(
        idempotency_key='once', fingerprint='0'), **counts())
    with VersionBefore(table_url) as before:
        found = before.read(group)
        assert (found['name'], found['status']) == ('shop', 'planned')
        assert before.claim(group, 'db/node-1', builders.new_uuid()) == 1
    assert table.claim(group.uuid, 'db/node', builders.new_uuid(),
                       builders.NOON).member.path == 'db/node-0'


def test_groups_of_the_previous_version_need_no_alternates(table, table_url):
    """The previous version has written them together with the members."""
    group = builders.a_group()
    with VersionBefore(table_url) as before:
        before.create(group, counts())
    later = builders.NOON.replace(year=9000)
    assert table.due_alternates.waiting(later, later, 10) == ()
    assert table.update_group(
        group.uuid, [group.status], **alternates.due_since(builders.NOON))
    assert table.due_alternates.waiting(later, later, 10) == (group.uuid,)


@pytest.mark.parametrize('version', [None, BEFORE])
def test_an_old_schema_is_refused_with_the_upgrade_command(empty_url, version):
    if version:
        migration.upgrade(empty_url, version)
    with pytest.raises(errors.TableError, match=(
            'nova-holistic-manage db upgrade')) as refused:
        migration.check_schema_current(empty_url)
    assert version is None or version in str(refused.value)
    table = PlacementTable(empty_url)
    with pytest.raises(errors.TableError):
        table.create_group(builders.a_group())
    table.database.engine.dispose()


def test_a_current_schema_and_a_newer_one_are_accepted(empty_url):
    migration.upgrade(empty_url)
    migration.check_schema_current(empty_url)
    engine = sa.create_engine(empty_url)
    with engine.begin() as link:
        link.execute(sa.text(
            f"UPDATE {migration.VERSION_TABLE} SET version_num = '9999'"))
    engine.dispose()
    migration.check_schema_current(empty_url)


@pytest.mark.parametrize('version', [None, BEFORE])
def test_a_service_refuses_to_start_on_an_old_schema(
        empty_url, version):
    if version:
        migration.upgrade(empty_url, version)
    state = f'at {version}' if version else 'empty'
    with pytest.raises(errors.SchemaTooOld) as refused:
        migration.check_schema_usable(empty_url)
    assert str(refused.value) == (
        f'placement table: the schema is {state}; this code expects '
        f'{migration.head()} and needs at least {migration.NEEDED}: run '
        'nova-holistic-manage db upgrade')


def test_a_service_works_with_the_oldest_supported_schema(empty_url):
    """This holds until the upgrade, in any order of its steps."""
    migration.upgrade(empty_url, migration.NEEDED)
    migration.check_schema_usable(empty_url)
    table = PlacementTable(empty_url)
    group = builders.planned(table, **counts())
    assert table.get_group(group.uuid) == group
    assert table.claim(group.uuid, 'db/node', builders.new_uuid(),
                       builders.NOON).member.path == 'db/node-0'
    with table.database.engine.connect() as link:
        lacking = compare_metadata(MigrationContext.configure(link, opts={
            'version_table': migration.VERSION_TABLE, 'compare_type': True}),
            models.Base.metadata)
    assert {each[0] for each in lacking} <= {'add_index', 'remove_index'}
    table.database.engine.dispose()
