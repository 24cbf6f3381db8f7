# SPDX-License-Identifier: Apache-2.0
"""The pages of a list of groups, one after the other, are the complete list:
for each selection and order, with many equal values of the sort key."""

from datetime import timedelta
import itertools

import pytest
import sqlalchemy as sa

from nova_holistic.table.queries.group_page import Page, SORT_KEYS
from nova_holistic.table.records import GroupStatus
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.store import PlacementTable
from tests.unit.table import builders

NAMES = ('api', 'shop', 'web')
STATUSES = (GroupStatus.COMPLETE, GroupStatus.PLANNED, GroupStatus.RELEASED)
SELECTED = (None, [], [GroupStatus.PLANNED], [GroupStatus.ERROR],
            [GroupStatus.RELEASED, GroupStatus.COMPLETE, GroupStatus.ERROR])


@pytest.fixture(scope='module')
def groups():
    """Groups of two projects. Their times repeat in other periods than their
    names and statuses."""
    return [builders.a_group(
        status, project_id=project, name=name,
        created_at=builders.NOON + timedelta(seconds=at % 5),
        updated_at=builders.NOON + timedelta(seconds=at % 4))
        for at, (project, name, status, _) in enumerate(itertools.product(
            ('blue', 'red'), NAMES, STATUSES, range(3)))]


@pytest.fixture(scope='module')
def listing(module_table_url, groups):
    table = PlacementTable(module_table_url)
    with table.database.writer() as session:
        session.execute(sa.insert(GroupRow), list(map(
            rows.group_values, groups)))
    yield table.listing
    table.database.close()


def expected(groups, project, name, statuses, order):
    key, descending = order
    return [group.uuid for group in sorted(
        (group for group in groups
         if project in (None, group.project_id)
         and name in (None, group.name)
         and (statuses is None or group.status in statuses)),
        key=lambda group: (getattr(group, key), group.uuid),
        reverse=descending)]


def page_by_page(listing, with_positions, **page):
    """The UUIDs of the groups of all pages.

    :param with_positions: whether each page has the position of its marker
    """
    found, marker, position = [], None, None
    while groups := listing.groups(Page(
            4, marker=marker, position=position, **page)):
        assert len(groups) <= 4
        found += [group.uuid for group in groups]
        marker = groups[-1].uuid
        position = (getattr(groups[-1], page['sort_key'])
                    if with_positions else None)
    return found


@pytest.mark.parametrize('descending', [False, True])
@pytest.mark.parametrize('key', SORT_KEYS)
def test_the_pages_are_the_complete_list(listing, groups, key, descending):
    for project, name, statuses, with_positions in itertools.product(
            ('blue', None), (None, 'shop', 'other'), SELECTED,
            (False, True)):
        assert page_by_page(
            listing, with_positions, project_id=project, name=name,
            statuses=statuses, sort_key=key, descending=descending
        ) == expected(groups, project, name, statuses, (key, descending)), (
            project, name, statuses)


@pytest.mark.parametrize(('descending', 'left'), [(False, 1), (True, 0)])
def test_a_list_by_name_continues_at_a_position_with_another_name(
        listing, groups, descending, left):
    """The last group of the previous page may have been renamed since."""
    found = listing.groups(Page(
        100, 'blue', 'shop', marker=groups[0].uuid, sort_key='name',
        descending=descending, position='api'))
    assert len(found) == left * 9
