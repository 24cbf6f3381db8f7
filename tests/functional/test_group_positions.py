# SPDX-License-Identifier: Apache-2.0
"""The cost of a create depends on the number of changed servers of its group,
and not on the number of existing ones. Each change counts nevertheless."""

from datetime import timedelta
import uuid

from nova import context as nova_context
from nova.db.api import models as api_models
from nova.db.main import models
from nova import objects
from oslo_db import exception as db_exception
from oslo_utils import timeutils
import pytest
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler.policies import (
    group_positions, server_locations)
from nova_holistic.scheduler.policies.group_positions import (
    GroupPositions, Groups)
from nova_holistic.table.queries import cached_group
from nova_holistic.table.records import MemberRecord, MemberState, Place
from tests.executed_lines import executed
from tests.functional import nova_records
from tests.functional.claims import (
    APART, create, document, host_of_active, HOSTS, SMALL)
from tests.functional.nova_records import (
    exist, in_nova, LONG_AGO, write_server)

TABLES = ('FROM instances', 'FROM instance_mappings', 'FROM cell_mappings',
          'FROM aggregate', 'FROM migrations')
"""Tables of Nova. test_group_cache.py counts the rows of the placement table.
"""
FEW, MANY = 2, 200
POLICIES = {
    'none': [], 'anti-affinity': APART,
    'spread': [{'type': 'spread', 'level': 'rack', 'max_skew': 1000}],
    'exclusive': [{'type': 'exclusive', 'level': 'host'}]}
NAMES = 'm-0', 'm-1', 'm-2'


def group_of(cloud, built, policies=(), is_elastic=False):
    """A group with three planned members, and with members that have servers
    on other hosts. Their servers were changed long ago.

    :param built: number of members with servers
    :param is_elastic: whether the number of these members may change
    """
    group = cloud.plan({
        **document(*NAMES, policies=policies),
        'groups': [{'name': 'built', 'members': [
            {'name': 'node', 'flavor': 'small', 'count': {
                'desired': built, 'max': MANY} if is_elastic else built}]}]},
        {name: f'cmp-{number}' for number, name in enumerate(NAMES)},
        resources=SMALL)
    planned = cloud.table.members(group)
    cloud.table.write_members(group, [*planned, *(MemberRecord(
        id=0, group_uuid=group, hold=str(uuid.uuid4()), member=Member(
            f'built/node-{number}', 'built/node',
            Requirements(resources=FrozenMapping(SMALL))),
        place=Place(f'far-{number}', f'far-{number}', str(uuid.uuid4()),
                    ('az1', f'far-r{number}')), held=False,
        state=MemberState.BUILT, instance_uuid=str(uuid.uuid4()))
        for number in range(built))])
    exist(cloud, servers_of(cloud, group))
    return group


def servers_of(cloud, group):
    return [row for row in cloud.table.members(group)
            if row.state == MemberState.BUILT]


@pytest.fixture
def cloud(running):
    # Other tests may have changed servers of this cloud just before.
    nova_records.forget_servers(running)
    yield running
    clear(running)


def clear(cloud):
    """Delete all groups, servers and allocations."""
    nova_records.forget_servers(cloud)
    for host in HOSTS:
        for consumer in cloud.consumers(host.name):
            cloud.delete_consumer(consumer)
    for group in cloud.table.list_groups():
        cloud.table.delete_group(group.uuid)


def answer(cloud, group, member):
    """Hosts of one answer of the scheduler: the planned one and alternates."""
    instance = str(uuid.uuid4())
    selections = cloud.select_destinations(cloud.request_spec(
        'small', {'group': group, 'member': member}, instance), [instance])
    return [each.service_host for each in selections[0]]


@pytest.mark.parametrize('policies', POLICIES.values(), ids=POLICIES)
def test_an_answer_costs_the_same_for_few_and_for_many_servers(
        cloud, policies):
    """The first answer reads all servers. The second reads the server that
    the first one has placed."""
    costs = []
    for built in FEW, MANY:
        group = group_of(cloud, built, policies)
        answer(cloud, group, 'm-0')
        costs.append(nova_records.cost(
            lambda: answer(cloud, group, 'm-1'), TABLES))
        clear(cloud)
    assert costs[0] == costs[1]
    # Nova has no record of the server that the first answer has placed.
    assert sum(rows for _, rows in costs[0]) <= 1
    assert len(costs[0]) <= 4


@pytest.mark.parametrize('name', ['anti-affinity', 'exclusive', 'both'])
def test_an_answer_reads_the_servers_of_groups_once(cloud, name):
    """The policies of a group and the domains that groups reserve need them,
    also if several groups are exclusive."""
    for _ in range(2):
        group = group_of(cloud, FEW, APART if name == 'anti-affinity' else [
            *POLICIES['exclusive'], *(APART if name == 'both' else ())])
    answer(cloud, group, 'm-0')
    costs = nova_records.cost(lambda: answer(cloud, group, 'm-1'), [
        'AS changed', 'FROM instance_mappings'])
    assert [text.split('.')[0] for text, _ in costs] == [
        'SELECT instance_mappings', 'SELECT instances']


@pytest.mark.parametrize('name', ['anti-affinity', 'exclusive', 'both'])
def test_an_answer_locates_the_servers_that_have_moved_once(cloud, name):
    """The policies of a group and the domains that groups reserve need the
    racks of their hosts."""
    group = group_of(cloud, FEW, {
        'anti-affinity': APART, 'exclusive': POLICIES['exclusive'],
        'both': [*POLICIES['exclusive'], *APART]}[name])
    for server, host in zip(servers_of(cloud, group), ('cmp-3', 'cmp-4')):
        write_server(cloud, server, host=host)
    answer(cloud, group, 'm-0')
    costs = nova_records.cost(
        lambda: answer(cloud, group, 'm-1'), ['aggregate'])
    assert [text.split('.')[0] for text, _ in costs] == [
        'SELECT aggregate_hosts']


WIDE = {name: policies if policies is not APART else [
    {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': 500}]
    for name, policies in POLICIES.items()}


def growth(cloud, policies, event, is_elastic=False):
    """How much more often each line or function of this project is executed
    by the answer for a group with many members than for a group with few.

    The first answer reads the group, and the second the times of its members.
    No alternate is refused, because the objections to it name members.

    :param event: 'line' or 'call'
    """
    counts = []
    for built in FEW, MANY:
        group = group_of(cloud, built, policies, is_elastic)
        answer(cloud, group, 'm-0')
        answer(cloud, group, 'm-1')
        counts.append(executed(lambda: answer(cloud, group, 'm-2'), event))
        clear(cloud)
    few, many = counts
    return many - few


@pytest.mark.parametrize('policies', WIDE.values(), ids=WIDE)
def test_no_function_is_called_for_each_member(cloud, policies, monkeypatch):
    """Rows of the placement table that have changed in the last second are
    read again. The test does not wait for a second."""
    monkeypatch.setattr(cached_group, 'OVERLAP', timedelta(0))
    more = growth(cloud, policies, 'call')
    assert sum(more.values()) < (MANY - FEW) / 2, more


@pytest.mark.parametrize('is_elastic', [False, True], ids=['fixed', 'elastic'])
@pytest.mark.parametrize('policies', WIDE.values(), ids=WIDE)
def test_no_line_is_executed_for_each_member(
        cloud, policies, is_elastic, monkeypatch):
    """Neither a loop nor a comprehension visits all members."""
    monkeypatch.setattr(cached_group, 'OVERLAP', timedelta(0))
    more = growth(cloud, policies, 'line', is_elastic)
    assert sum(more.values()) < (MANY - FEW) / 2, more


def test_a_group_without_rules_reads_no_positions(cloud):
    group = group_of(cloud, FEW)
    assert not nova_records.cost(lambda: answer(cloud, group, 'm-0'), [
        'FROM instances', 'FROM cell_mappings'])


class Reader:
    """Reads a group with a cache, and compares the result with that of a new
    cache.

    :ivar seconds: the time of the clock of the cache
    """

    def __init__(self, cloud, group, cache=None):
        self._cloud, self._group = cloud, group
        self.seconds = 0
        self._cache = cache or GroupPositions(clock=lambda: self.seconds)

    def cached(self):
        """Positions of members with servers, in their order."""
        return self._positions(self._cache)

    def read(self):
        found = self.cached()
        assert found == self._positions(GroupPositions())
        return found

    def number_of_unread_servers(self):
        _, rows = self._cloud.table.group_cache.read(self._group)
        return len(self._cache.unread_servers(self._group, rows.by_id))

    def _positions(self, cache):
        record, rows = self._cloud.table.group_cache.read(self._group)
        found = cache.positions(
            nova_context.get_admin_context(), Groups(self._group, frozenset(
                [record.project_id])), dict(rows.by_id))
        return [found.get(row.id) and (found[row.id].host,
                                       found[row.id].source)
                for row in rows if row.state in server_locations.OWNED]


def reader_of(cloud, built=FEW):
    group = group_of(cloud, built)
    reader = Reader(cloud, group)
    assert reader.read() == [(f'far-{number}', None)
                             for number in range(built)]
    return reader, servers_of(cloud, group)


FAR = 'far-1', None


@pytest.mark.parametrize('values, position', [
    ({'host': 'cmp-1'}, ('cmp-1', None)),
    ({'host': None, 'vm_state': 'shelved_offloaded'}, None),
    ({'vm_state': 'soft-delete'}, None),
    ({'vm_state': 'error'}, ('far-0', None)),
    ({'host': 'cmp-2', 'task_state': 'rebuild_spawning'}, ('cmp-2', None)),
    ({'host': 'cmp-2', 'vm_state': 'resized'}, ('cmp-2', None)),
], ids=['moved', 'shelved', 'deleted', 'failed', 'evacuated', 'resized'])
def test_a_changed_server_is_read_again(cloud, values, position):
    reader, (row, _) = reader_of(cloud)
    write_server(cloud, row, **values)
    assert reader.read() == [position, FAR]
    # The same after the server has returned.
    write_server(cloud, row, host='far-0', vm_state='active', task_state=None)
    assert reader.read() == [('far-0', None), FAR]


def test_both_hosts_count_until_a_move_has_ended(cloud):
    """The end of a migration does not always change the server."""
    reader, (row, _) = reader_of(cloud)
    write_server(cloud, row, task_state='migrating')
    assert reader.read() == [('far-0', None), FAR]
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.insert(models.Migration), [{
            'uuid': str(uuid.uuid4()), 'instance_uuid': row.instance_uuid,
            'status': 'running', 'source_compute': 'far-0',
            'dest_compute': 'cmp-1', 'deleted': 0}])
    write_server(cloud, row, LONG_AGO)
    assert reader.read() == [('cmp-1', 'far-0'), FAR]
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.update(models.Migration).values(status='error'))
    assert reader.read() == [('far-0', None), FAR]


@pytest.mark.parametrize('values', [
    {'vm_state': 'deleted'}, {'vm_state': 'active', 'task_state': 'deleting'},
    {'vm_state': 'building', 'host': None}], ids=str)
def test_nova_deletes_a_record_without_a_new_date(cloud, values):
    reader, (row, _) = reader_of(cloud)
    write_server(cloud, row, **values)
    assert reader.read() == [('far-0', None), FAR]
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.update(models.Instance).where(
            models.Instance.uuid == row.instance_uuid).values(
                deleted=models.Instance.id, updated_at=LONG_AGO))
    assert reader.read() == [None, FAR]


def test_a_change_counts_that_is_dated_before_the_last_read(cloud):
    """The clock of the writer is late, or its transaction took some time."""
    reader, (row, _) = reader_of(cloud)
    write_server(cloud, row, timeutils.utcnow() - timedelta(
        seconds=cloud.conf.service_down_time - 5), host='cmp-1')
    assert reader.read() == [('cmp-1', None), FAR]


def test_a_change_without_a_date_counts_after_some_time(cloud):
    reader, (row, _) = reader_of(cloud)
    write_server(cloud, row, LONG_AGO, host='cmp-1')
    assert reader.cached() == [('far-0', None), FAR]
    reader.seconds = group_positions.MAX_AGE_SECONDS
    assert reader.read() == [('cmp-1', None), FAR]


def test_all_servers_are_read_if_too_many_have_changed(cloud, monkeypatch):
    """The list of changed servers ends before the servers of the group."""
    monkeypatch.setattr(group_positions, 'MIN_LIMIT', 1)
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.insert(models.Instance), [
            {'uuid': str(uuid.uuid4()), 'project_id': PROJECT,
             'updated_at': timeutils.utcnow() - timedelta(seconds=5)}
            for _ in range(8)])
    reader, rows = reader_of(cloud, 4)
    for number, row in enumerate(rows):
        write_server(cloud, row, host=f'cmp-{number}')
    assert reader.read() == [(f'cmp-{number}', None) for number in range(4)]


def test_servers_of_other_projects_are_not_read(cloud):
    reader, _ = reader_of(cloud)
    with in_nova(cloud) as (_, cell):
        cell.execute(sa.insert(models.Instance), [
            {'uuid': str(uuid.uuid4()), 'project_id': 'other',
             'updated_at': timeutils.utcnow()} for _ in range(8)])
    (_, rows), = nova_records.cost(reader.cached, TABLES)
    assert not rows


def test_members_keep_their_last_hosts_while_their_cell_is_unavailable(
        cloud, monkeypatch):
    reader, (row, other) = reader_of(cloud)
    write_server(cloud, row, host='cmp-1', task_state='rebuild_spawning')
    assert reader.read() == [('cmp-1', None), FAR]

    def away(*args):
        raise db_exception.DBConnectionError(Exception('no route to host'))

    with monkeypatch.context() as patch:
        patch.setattr(server_locations, '_instances', away)
        write_server(cloud, other, host='cmp-2')
        assert reader.cached() == [('cmp-1', None), FAR]
    assert reader.read() == [('cmp-1', None), ('cmp-2', None)]


@pytest.fixture
def other_cell(cloud):
    """A second cell of Nova."""
    other = objects.CellMapping.get_by_uuid(
        nova_context.get_admin_context(), objects.CellMapping.CELL0_UUID)
    yield other
    with in_nova(cloud, other) as (_, cell):
        cell.execute(sa.delete(models.Instance))


def copy_to(cloud, other_cell, row, host, at):
    """Write a record of a server to the second cell.

    :param at: its date of change
    """
    with in_nova(cloud, other_cell) as (_, cell):
        cell.execute(sa.insert(models.Instance), [
            {'uuid': row.instance_uuid, 'project_id': PROJECT,
             'user_id': USER, 'host': host, 'vm_state': 'active',
             'updated_at': at, 'deleted': 0}])


def move_to(cloud, other_cell, row):
    """Let only the second cell have a server."""
    with in_nova(cloud) as (api, cell):
        cell.execute(sa.delete(models.Instance).where(
            models.Instance.uuid == row.instance_uuid))
        api.execute(sa.update(api_models.InstanceMapping).where(
            api_models.InstanceMapping.instance_uuid
            == row.instance_uuid).values(cell_id=other_cell.id))


def test_a_server_that_moves_to_another_cell_is_found(cloud, other_cell):
    """During a resize, both cells have a record of the server. At its end,
    Nova deletes the record in the former cell without a trace."""
    group = group_of(cloud, FEW)
    moving, staying = servers_of(cloud, group)
    copy_to(cloud, other_cell, staying, 'far-1', LONG_AGO)
    move_to(cloud, other_cell, staying)
    reader = Reader(cloud, group)
    assert reader.read() == [('far-0', None), FAR]
    copy_to(cloud, other_cell, moving, 'cmp-1', timeutils.utcnow())
    assert reader.read() == [('far-0', None), FAR]
    move_to(cloud, other_cell, moving)
    assert reader.read() == [('cmp-1', None), FAR]


def test_few_groups_are_cached(cloud):
    """The cache forgets the group that was read first."""
    cache = GroupPositions(limit=8)
    first, second = (Reader(cloud, group_of(cloud, FEW), cache)
                     for _ in range(2))
    for reader in first, second:
        reader.read()
    assert [reader.number_of_unread_servers() for reader
            in (first, second)] == [FEW, 0]


MOVES = {
    'live migration without the scheduler': (
        lambda cloud, server: cloud.force_live_migration(server, 'cmp-3'),
        {'cmp-3'}, {'cmp-0'}),
    'cold migration': (
        lambda cloud, server: cloud.migrate(server, 'cmp-3'),
        {'cmp-3'}, {'cmp-0'}),
    'shelving': (lambda cloud, server: cloud.shelve(server),
                 set(), {'cmp-0'}),
    'deletion': (lambda cloud, server: cloud.delete_server(server),
                 set(), {'cmp-0'}),
}


@pytest.mark.parametrize('policies', [
    APART, [*APART, *POLICIES['exclusive']]], ids=['shared', 'exclusive'])
@pytest.mark.parametrize('move, taken, free', MOVES.values(), ids=MOVES)
def test_an_answer_takes_a_move_since_the_last_answer_into_account(
        cloud, move, taken, free, policies):
    """Nova moves a server of the group between two answers. Neither the
    reconciler nor an engine sees it."""
    group = cloud.plan(document(*NAMES, policies=policies), {
        name: f'cmp-{number}' for number, name in enumerate(NAMES)},
        resources=SMALL)
    server = create(cloud, group, 'm-0')
    assert host_of_active(cloud, server) == 'cmp-0'
    cloud.reconciler.reconcile()
    assert cloud.row(group, 'm-0').state == MemberState.BUILT
    names = {host.name for host in HOSTS}
    planned, *others = answer(cloud, group, 'm-1')
    assert planned == 'cmp-1' and set(others) == names - {
        'cmp-0', 'cmp-1', 'cmp-2'}
    move(cloud, server)
    planned, *others = answer(cloud, group, 'm-2')
    assert planned == 'cmp-2'
    assert set(others).isdisjoint({'cmp-1', 'cmp-2'} | taken)
    assert free <= set(others)
    if cloud.row(group, 'm-0').instance_uuid == server and (
            move is not MOVES['deletion'][0]):
        cloud.delete_server(server)
