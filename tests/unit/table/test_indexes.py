# SPDX-License-Identifier: Apache-2.0
"""Rows of other projects cost nothing: every query finds its rows by an
index."""

from datetime import timedelta
import itertools

import pytest
import sqlalchemy as sa

from nova_holistic.table.history.pages import Page as EventPage
from nova_holistic.table.queries.group_page import Page, SORT_KEYS
from nova_holistic.table.queries import overview, totals
from nova_holistic.table.records import GroupStatus, Task
from nova_holistic.table import rows
from nova_holistic.table.schema import models
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.store import PlacementTable
from tests.statements import recorded
from tests.unit.table import builders
from tests.unit.table.filling import analyze, fill
from tests.unit.table.rows_read import rows_read

NOON = builders.NOON
ENOUGH = 1_000
"""Number of rows that MariaDB may estimate; its estimates are rough."""
BUSY = 3_000
"""Number of groups of the largest project."""
MAX_ROWS = 150
"""Maximum number of rows that a page of 10 groups reads. It is merged from up
to four ranges, and its groups are read by their UUIDs."""


@pytest.fixture(scope='module')
def filled(module_table_url):
    """A table with many rows of other projects. Tests add a few rows to it."""
    table = PlacementTable(module_table_url)
    fill(table)
    yield table
    table.database.close()


def queries(table, call):
    """The SELECT statements of a call, with their parameters."""
    with recorded(table.database.engine) as recorder:
        call()
    return [(each.text, each.parameters) for each in recorder.sent
            if each.text.startswith('SELECT')]


def whole_tables(table, statement, parameters):
    """The steps of the database's plan that read more than necessary."""
    dialect = table.database.engine.dialect.name
    words = {'sqlite': 'EXPLAIN QUERY PLAN', 'mysql': 'EXPLAIN',
             'postgresql': 'EXPLAIN'}[dialect]
    with table.database.engine.connect() as link:
        steps = link.exec_driver_sql(
            f'{words} {statement}', parameters).mappings().all()
    if dialect == 'sqlite':
        # The names of results of subqueries begin with anon_.
        return [s['detail'] for s in steps if s['detail'].startswith('SCAN')
                and not s['detail'].startswith(('SCAN anon_', 'SCAN (sub'))]
    if dialect == 'mysql':
        # The names of results of subqueries begin with <.
        return [dict(s) for s in steps if not str(s['table']).startswith('<')
                and (s['type'] == 'ALL' or _rows(s) > ENOUGH)]
    return [s['QUERY PLAN'] for s in steps if 'Seq Scan' in s['QUERY PLAN']]


def _rows(step):
    """MariaDB appends the share of rows that a filter of another index
    passes."""
    return int(str(step['rows'] or 0).split()[0])


def calls(table, group, task):
    """The frequent queries by name."""
    page_filter = {'limit': 10, 'project_id': 'blue'}
    listing, marker = table.listing, group.uuid
    yield from {
        'a group': lambda: table.get_group(group.uuid),
        'its members': lambda: table.group_with_members(group.uuid),
        'members of servers': lambda: overview.members_of_servers(
            table.database, [marker]),
        'groups by UUID': lambda: overview.groups(
            table.database, [marker]),
        'of an instance': lambda: table.member_of_instance(marker),
        'by key': lambda: listing.by_idempotency_key('blue', 'key-1'),
        'number': lambda: listing.number('blue'),
        'members of a project': lambda: listing.number_of_members('blue'),
        'counts': lambda: listing.member_counts([group.uuid, task.uuid]),
        'paths': lambda: listing.live_paths(group.uuid),
        'tasks': lambda: table.tasks.waiting(NOON, 4),
        'expired': lambda: table.expired_groups(NOON),
        'exclusive': lambda: table.exclusive_groups(),
        'on a host': lambda: table.hosts_of_members(
            ['cmp-3'], group.uuid),
        'claim': lambda: table.claim(
            group.uuid, 'db/node', builders.new_uuid(), NOON),
        'all hosts': lambda: totals.any_group_uses_all_hosts(
            table.database),
        'plans': lambda: listing.number_of_plans('blue'),
        'by name': lambda: listing.groups(Page(**page_filter, name='shop')),
        'by status': lambda: listing.groups(Page(
            **page_filter, statuses=[GroupStatus.PLANNED])),
    }.items()
    for key, descending, after in itertools.product(
            SORT_KEYS, (False, True), (None, marker)):
        page = Page(**page_filter, sort_key=key, descending=descending,
                    marker=after)
        yield (f'page by {key}, {descending=}, {after=}',
               lambda page=page: listing.groups(page))


def test_every_query_uses_an_index(filled):
    table = filled
    group = builders.planned(table, web=None, node=3)
    task = builders.a_group(GroupStatus.PLANNING, task=Task.PLANNING)
    table.create_group(task)
    slow = {}
    for name, call in calls(table, group, task):
        asked = queries(table, call)
        assert asked, name
        for statement, parameters in asked:
            found = whole_tables(table, statement, parameters)
            if found:
                slow[name] = found
    assert slow == {}
    assert table.tasks.waiting(NOON, 4) == (task.uuid,)


def test_members_of_a_project_are_counted_in_an_index(filled):
    """The rows, which contain documents, are not read."""
    for _ in range(5):
        builders.planned(filled, builders.a_group(
            GroupStatus.PLANNED, project_id='large'), node=100)
    analyze(filled, [GroupRow, models.MemberRow])
    sign = {'sqlite': 'COVERING INDEX', 'mysql': 'Using index',
            'postgresql': 'Index Only Scan'}[
                filled.database.engine.dialect.name]
    statement, parameters = queries(
        filled, lambda: filled.listing.number_of_members('large'))[0]
    with filled.database.engine.connect() as link:
        words = ('EXPLAIN QUERY PLAN' if sign == 'COVERING INDEX'
                 else 'EXPLAIN')
        steps = [str(dict(step)) for step in link.exec_driver_sql(
            f'{words} {statement}', parameters).mappings()]
    (of_members,) = [step for step in steps if 'holistic_members' in step
                     and 'Cond' not in step and 'Filter' not in step]
    assert sign in of_members


def in_no_order(table, statement, parameters):
    """The steps of the database's plan that sort or read a complete table."""
    dialect = table.database.engine.dialect.name
    words = {'sqlite': 'EXPLAIN QUERY PLAN', 'mysql': 'EXPLAIN',
             'postgresql': 'EXPLAIN'}[dialect]
    with table.database.engine.connect() as link:
        steps = [str(dict(step)) for step in link.exec_driver_sql(
            f'{words} {statement}', parameters).mappings()]
    signs = {'sqlite': ('TEMP B-TREE', 'SCAN holistic_groups\''),
             'mysql': ('filesort', "'type': 'ALL'"),
             'postgresql': ('Sort', 'Seq Scan')}[dialect]
    return [step for step in steps if any(sign in step for sign in signs)]


def test_a_page_is_read_in_the_order_of_an_index(filled):
    table = filled
    group = builders.planned(table, web=None)
    slow = {}
    for key, descending, after in itertools.product(
            SORT_KEYS, (False, True), (None, group.uuid)):
        if after is not None and key in ('name', 'status'):
            # It is merged from the groups with the value of the marker, and
            # the groups after them.
            continue
        page = Page(limit=10, sort_key=key, descending=descending,
                    marker=after)
        *_, (statement, parameters) = queries(
            table, lambda page=page: table.listing.groups(page))
        found = in_no_order(table, statement, parameters)
        if found:
            slow[key, descending, after] = found
    assert slow == {}


@pytest.fixture(scope='module')
def busy(filled):
    """The same table with a project that has many groups, of which few have a
    plan. Two of three groups have the same name."""
    groups = [builders.a_group(
        GroupStatus.RELEASED if at % BUSY else GroupStatus.PLANNED,
        project_id='busy', name='daily' if at % 3 else f'shop-{at}',
        created_at=NOON + timedelta(seconds=at),
        updated_at=NOON + timedelta(seconds=at)) for at in range(BUSY)]
    with filled.database.writer() as session:
        session.execute(sa.insert(GroupRow), list(map(
            rows.group_values, groups)))
    analyze(filled, [GroupRow])
    return filled


def in_the_middle(table):
    """UUID of a group in the middle of its project in each order."""
    with table.database.reader() as session:
        return session.scalars(sa.select(GroupRow.uuid).where(
            GroupRow.project_id == 'busy', GroupRow.name == 'daily',
            GroupRow.status == GroupStatus.RELEASED,
            GroupRow.created_at > NOON + timedelta(seconds=BUSY // 3),
            GroupRow.created_at < NOON + timedelta(seconds=2 * BUSY // 3),
            GroupRow.uuid > '5', GroupRow.uuid < 'b').limit(1)).one()


def pages(marker):
    """Pages by their selection and order."""
    selections = [
        {}, {'statuses': [GroupStatus.RELEASED]},
        {'statuses': [GroupStatus.PLANNED, GroupStatus.ERROR]},
        {'statuses': [GroupStatus.PLANNED, GroupStatus.RELEASED]}]
    named = [{'name': 'daily'}, {'name': 'shop-3'}]
    for project, (selection, key), descending, after in itertools.product(
            ('busy', None),
            [*itertools.product(selections, SORT_KEYS),
             *itertools.product(named, ('name', 'created_at'))],
            (False, True), (None, marker)):
        yield Page(10, project, sort_key=key, descending=descending,
                   marker=after, **selection)


def test_a_page_reads_only_its_groups(busy):
    """This also holds if few groups of a large project are selected, or if
    many groups have the same value of the sort key."""
    slow = {}
    for page in pages(in_the_middle(busy)):
        number = rows_read(
            busy, lambda page=page: busy.listing.groups(page))
        if number > MAX_ROWS:
            slow[str(page)] = number
    assert slow == {}


def test_a_page_by_name_reads_only_groups_with_this_name(busy):
    for status, key, descending in itertools.product(
            (None, GroupStatus.PLANNED), SORT_KEYS, (False, True)):
        page = Page(10, 'busy', 'shop-3', status and [status], sort_key=key,
                    descending=descending)
        assert rows_read(
            busy, lambda page=page: busy.listing.groups(page)) <= MAX_ROWS


@pytest.fixture(scope='module')
def long_history(filled):
    """UUID of a group with many events, of which few are about the member
    ``db/web`` or have another kind."""
    uuid = builders.new_uuid()
    events = [{
        'group_uuid': uuid, 'at': NOON, 'reasons': [], 'details': {},
        'kind': 'member.state' if at % (BUSY // 3) else 'host.refused',
        'member': f'db/node-{at % 100}' if at % (BUSY // 2) else 'db/web',
        'service': ''} for at in range(BUSY)]
    with filled.database.writer() as session:
        session.execute(sa.insert(models.EventRow.__table__), events)
    analyze(filled, [models.EventRow])
    return uuid


@pytest.mark.parametrize('selection', [
    {}, {'member': 'db/web'}, {'member': 'db/other'},
    {'kind': 'host.refused'}, {'kind': 'group.bound'},
    {'kind': 'member.state'}, {'kind': 'member.state', 'member': 'db/web'},
    {'kind': 'group.bound', 'member': 'db/node-3'}])
@pytest.mark.parametrize('descending', [False, True])
def test_a_page_of_events_reads_only_events_of_its_member_and_kind(
        filled, long_history, selection, descending):
    page = EventPage(long_history, 10, descending=descending, **selection)
    assert rows_read(filled, lambda: filled.history.read(page)) <= MAX_ROWS


def test_a_call_that_reads_many_rows_is_detected(busy):
    assert rows_read(busy, lambda: slow_query(busy)) > MAX_ROWS


def test_a_query_without_an_index_is_detected(filled):
    """The same check of plans detects a query that must read everything."""
    ((statement, parameters),) = queries(filled, lambda: slow_query(filled))
    assert whole_tables(filled, statement, parameters)


def test_a_page_without_index_order_is_detected(filled):
    def sorted_by_user():
        with filled.database.reader() as session:
            session.execute(sa.select(GroupRow.uuid).order_by(
                GroupRow.user_id).limit(10)).all()

    ((statement, parameters),) = queries(filled, sorted_by_user)
    assert in_no_order(filled, statement, parameters)


def slow_query(table):
    with table.database.reader() as session:
        session.execute(sa.select(GroupRow.uuid).where(
            GroupRow.user_id == 'ann')).all()
