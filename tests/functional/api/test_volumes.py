# SPDX-License-Identifier: Apache-2.0
"""Dry runs of groups with volumes on a cloud whose storage pools are known.

Each of the racks a and b has two hosts with two VCPUs each, and a pool.
"""

from http import HTTPStatus

from nova_holistic.inventory.errors import ServiceFailed
from tests.functional.api.storage import pool
from tests.functional.engine.world import SMALL
from tests.unit.api.service import ADMIN, MEMBER


def database(servers=2, size=30, **keys):
    """Servers and volumes in one rack."""
    return {'name': 'db', 'policies': [
        {'type': 'affinity', 'level': 'rack'}], 'members': [
        {'name': 'server', 'count': servers, 'resources': SMALL},
        {'name': 'data', 'count': 2, 'kind': 'volume', 'size': size,
         'volume_type': 'fast', **keys}]}


def planned(service, group, **keys):
    return service.ask('POST', '/v1/plans?wait=60', {
        'group': group, **keys}, ADMIN).json['plan']


def places(plan):
    return {each['member'].split('-')[0]: each['host']
            for each in plan['placements']}


def test_volumes_are_planned_near_their_servers(service, pools):
    pools[0] = pool('array@a#fast', 'a', 100, used=50)
    plan = planned(service, database())
    assert plan['status'] == 'planned', plan
    found = places(plan)
    assert found['data'] == 'array@b#fast'
    assert found['server'] in ('b1', 'b2')


def test_volumes_are_planned_beside_a_group_without_a_replica(service, pools):
    more = {'name': 'more', 'count': {'min': 0, 'desired': 0, 'max': 2}}
    for needs, status, places in (
            ({'resources': SMALL}, 'planned', []),
            ({'flavor': 'm1.none'}, 'error', ['groups[0].members[0].flavor'])):
        plan = planned(service, {**database(), 'groups': [{
            **more, 'members': [{'name': 'log', **needs}]}]})
        assert plan['status'] == status, plan
        assert [each['at'] for each in plan.get('reasons', [])] == places


def test_the_pools_are_read_again_for_each_plan(service, pools):
    assert planned(service, database(size=50))['status'] == 'planned'
    pools[:] = [pool('array@a#fast', 'a', 99), pool('array@b#fast', 'b', 100)]
    assert places(planned(service, database(size=50)))[
        'data'] == 'array@b#fast'
    pools[:] = [pool('array@a#fast', 'a', 99)]
    plan = planned(service, database(size=50))
    assert plan['status'] == 'unplaceable'
    assert any('VOLUME_GB' in each['message'] for each in plan['reasons'])


def test_additional_answers_count_the_pools(service, pools):
    # Each rack has capacity for two pairs of servers, and its pool has
    # capacity for one pair of volumes.
    assert planned(service, database(size=30), headroom=True)[
        'headroom'] == {'at_least': 2, 'at_most': 2}
    plan = planned(service, database(size=60), relaxations=True)
    assert plan['status'] == 'unplaceable'
    assert ('members[1].count', 1, 2) in [
        (each['position'], each['count'], each['instead_of'])
        for each in plan['relaxations']['counts']]


def test_pools_in_a_reserved_rack_are_not_used(world, service, pools):
    pools[1] = pool('array@b#fast', 'b', 59)
    assert places(planned(service, database()))['data'] == 'array@a#fast'
    world.create({'group': {
        'name': 'alone', 'policies': [{'type': 'exclusive', 'level': 'rack'}],
        'members': [{'name': 'one', 'resources': SMALL,
                     'location': 'a'}]}})
    plan = planned(service, {'name': 'disk', 'members': [
        {'name': 'data', 'kind': 'volume', 'size': 60}]})
    assert plan['status'] == 'unplaceable'


def test_nothing_is_held_for_a_plan_with_volumes(world, service, pools):
    assert planned(service, database())['status'] == 'planned'
    assert not any(world.placement.consumers(provider)
                   for provider in world.providers())
    assert not world.table.list_groups()


def test_groups_without_volumes_do_not_read_the_pools(world, service):
    def fail(snapshot):
        raise AssertionError('the pools were read')

    world.inventory.read_pools = fail
    group = {'name': 'web', 'members': [{'name': 'one', 'resources': SMALL}]}
    assert planned(service, group)['status'] == 'planned'
    world.create({'group': group})


def test_without_pools_each_volume_is_a_mistake(service):
    plan = planned(service, database())
    assert plan['status'] == 'error'
    (reason,) = plan['reasons']
    assert reason['at'] == 'members[1].kind'
    assert 'no storage pools are known' in reason['message']


def test_a_type_that_no_pool_offers_is_a_mistake(service, pools):
    plan = planned(service, database(volume_type='slow'))
    assert plan['status'] == 'error'
    assert plan['reasons'][0]['at'] == 'members[1].volume_type'


def test_a_plan_without_an_answer_of_cinder_is_an_error(world, service):
    def fail(snapshot):
        raise ServiceFailed('cinder', '/types', 'no answer')

    world.inventory.read_pools = fail
    plan = planned(service, database())
    assert plan['status'] == 'error'
    assert 'cinder' in plan['reasons'][0]['message']


def test_a_member_of_the_project_does_not_see_the_names_of_pools(
        service, pools):
    answer = service.ask('POST', '/v1/plans?wait=60', {'group': database()},
                         MEMBER)
    assert answer.status_int == HTTPStatus.CREATED
    assert 'array' not in answer.text
