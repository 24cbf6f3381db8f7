# SPDX-License-Identifier: Apache-2.0
"""A plan with the changes that make the group fit, and with the number of
copies that fit."""

from tests.functional.engine.world import shop, SMALL
from tests.unit.api.service import ADMIN

TOO_LARGE = {'name': 'crowd', 'members': [
    {'name': 'node', 'count': 5, 'resources': SMALL}],
    'policies': [{'type': 'anti-affinity', 'level': 'host'}]}


def plan(service, group, **asked):
    answer = service.ask('POST', '/v1/plans?wait=9',
                         {'group': group, **asked})
    assert answer.status_int == 201, answer.text
    return answer.json['plan']


def test_an_unplaceable_plan_has_relaxations_without_names(world, service):
    own_plan = plan(service, TOO_LARGE, relaxations=True)
    assert own_plan['status'] == 'unplaceable'
    assert own_plan['relaxations'] == {
        'preferences': [{'smallest': True, 'rules': [
            {'position': 'policies[0]', 'at': '',
             'name': 'anti-affinity host'}]}],
        'counts': [{'position': 'members[0].count', 'member': 'node',
                    'count': 4, 'instead_of': 5, 'largest': True}],
        'hosts': {'number': 1, 'in_new_domains': False, 'smallest': True},
        'undecided': []}
    assert 'headroom' not in own_plan
    admin_view = service.ask('GET', f'/v1/plans/{own_plan["id"]}',
                             token=ADMIN).json['plan']['relaxations']['hosts']
    assert admin_view['like'] in world.hosts
    (added,) = admin_view['added']
    assert added['beside'] in world.hosts


def test_a_plan_has_the_headroom_of_the_cloud_as_it_is(world, service):
    assert plan(service, shop()['group'], headroom=True)['headroom'] == {
        'at_least': 2, 'at_most': 2}
    assert service.ask('POST', '/v1/groups?wait=9',
                       shop()).json['group']['status'] == 'planned'
    headroom_plan = plan(
        service, shop()['group'], headroom=True, relaxations=True)
    assert headroom_plan['headroom'] == {'at_least': 1, 'at_most': 1}
    # The group fits, so there is nothing to relax.
    assert 'relaxations' not in headroom_plan
    assert world.vcpus_used() == 3


def test_a_plan_has_neither_headroom_nor_relaxations_by_default(service):
    body = plan(service, TOO_LARGE, relaxations=False)
    assert sorted(body) == ['id', 'links', 'reasons', 'status']
