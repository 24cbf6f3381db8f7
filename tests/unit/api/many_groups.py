# SPDX-License-Identifier: Apache-2.0
"""A table with many groups, and the requests of a client."""

from datetime import timedelta

import sqlalchemy as sa

from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from tests.unit.api.service import NOON, SHOP
from tests.unit.table.builders import a_group, members_of

OTHERS = 10
"""Number of projects to which the groups of others belong."""
KEY = {'Idempotency-Key': 'the first of all'}


def create_groups(table, number, own, nodes=2):
    """Create planned groups, one per second.

    :param own: number of groups that belong to the client
    :param nodes: number of servers of each group, in addition to one more
    """
    groups = [
        a_group(name=f'shop-{i}', document=SHOP,
                project_id='blue' if i < own else f'other-{i % OTHERS}',
                created_at=NOON - timedelta(seconds=i))
        for i in range(number)]
    members = [
        rows.member_values(member, position) for group in groups
        for position, member in enumerate(
            members_of(group, {'web': 1, 'node': nodes}))]
    with table.database.writer() as session:
        session.execute(sa.insert(GroupRow),
                        [rows.group_values(group) for group in groups])
        session.execute(sa.insert(MemberRow), members)


def requests(service):
    """A function for each kind of request. It sends the request and checks the
    response."""
    (group,) = service.ask('GET', '/v1/groups?limit=1').json['groups']
    path = f'/v1/groups/{group["id"]}'
    plan = service.ask('POST', '/v1/plans', {'group': SHOP}).json['plan']

    def asked(method, path, status, *more, **options):
        def ask():
            answer = service.ask(method, path, *more, **options)
            assert answer.status_int == status, answer.text
            return answer
        return ask

    repeated = asked('POST', '/v1/groups', 202, {'group': SHOP}, headers=KEY)
    repeated()
    return {'show': asked('GET', path, 200),
            'list, a page of 100': asked('GET', '/v1/groups?limit=100', 200),
            'list, the next page': asked(
                'GET', f'/v1/groups?limit=100&marker={group["id"]}', 200),
            'list, by status': asked(
                'GET', '/v1/groups?limit=100&status=planned', 200),
            'events': asked('GET', path + '/events?limit=100', 200),
            'show a plan': asked('GET', f'/v1/plans/{plan["id"]}', 200),
            'placements': asked('GET', path + '/placements', 200),
            'create, repeated': repeated}
