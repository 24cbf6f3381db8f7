# SPDX-License-Identifier: Apache-2.0
"""Existing servers become servers of members whose number may change."""

import pytest

from nova_holistic.documents.groups.adoption import with_adoptions
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.policies import load_policy_types
from nova_holistic.table.changes import detaching
from nova_holistic.table.changes.detaching import Detached
from nova_holistic.table.records import GroupStatus
from tests.functional.engine.adopting import a_server, allocated, create
from tests.functional.engine.updates import fill, hosts, update
from tests.functional.engine.world import SMALL

HOSTS = ('a1', 'b1', 'a2', 'b2')
SPREAD = [{'type': 'anti-affinity', 'level': 'host'}]


def nodes(least=1, desired=2, most=4):
    return {'name': 'nodes', 'policies': SPREAD, 'members': [{
        'name': 'node', 'resources': SMALL,
        'count': {'min': least, 'desired': desired, 'max': most}}]}


def adopting(document, *numbers, world):
    """The document with a server for each of these numbers."""
    servers = {f'node-{number}': a_server(world, host)
               for number, host in zip(numbers, HOSTS)}
    return with_adoptions(document, servers), servers


def test_adopted_servers_count_as_desired_servers(world):
    document, servers = adopting(nodes(), 5, world=world)
    record = create(world, document)
    assert (record.status, record.reasons) == (GroupStatus.BUILDING, ())
    assert world.states(record) == {'node-0': 'planned', 'node-5': 'built'}
    assert hosts(world, record)['node-0'] != hosts(world, record)['node-5']
    assert world.vcpus_used() == 2
    world.build(record, 'node-0')
    world.assert_agreement()


def test_more_servers_than_desired_are_adopted_up_to_the_maximum(world):
    document, servers = adopting(nodes(), 0, 1, 2, 3, world=world)
    before = allocated(world, servers.values())
    record = create(world, document)
    assert (record.status, record.reasons) == (GroupStatus.COMPLETE, ())
    assert world.states(record) == dict.fromkeys(servers, 'built')
    assert allocated(world, servers.values()) == before
    assert world.vcpus_used() == 4
    world.reconciler.reconcile()
    assert world.vcpus_used() == 4
    world.assert_agreement()


def test_servers_with_higher_numbers_count_towards_the_minimum(world):
    """Hosts are left for no member below the numbers of the servers."""
    document, servers = adopting(nodes(2, 2), 5, 6, world=world)
    record = create(world, document)
    assert record.status == GroupStatus.COMPLETE
    fill(world, 'a1', 'b1')
    after = update(world, record, nodes(2, 3))
    assert (after.status, after.document) == (
        GroupStatus.COMPLETE, nodes(2, 3)), after.reasons
    assert world.states(record) == dict.fromkeys(servers, 'built')
    assert 'node-0' in after.reasons[0]['at']


def test_an_adopted_server_replaces_a_planned_one(world):
    record = create(world, nodes())
    document, servers = adopting(nodes(), 2, world=world)
    after = update(world, record, document)
    assert (after.status, after.reasons) == (GroupStatus.BUILDING, ())
    assert sorted(world.states(record).values()) == ['built', 'planned']
    assert world.vcpus_used() == 2
    world.assert_agreement()


def test_no_server_is_adopted_beyond_the_maximum(world):
    """The servers of the group count, and not only those that it adopts."""
    document, servers = adopting(nodes(most=2), 0, 1, world=world)
    record = create(world, document)
    document, other = adopting(nodes(most=2), 2, world=world)
    after = update(world, record, document)
    (reason,) = after.reasons
    assert reason['at'] == 'adopt.node-2'
    assert "'node' would exist 3 times, and its maximum is 2" in (
        reason['message'])
    assert (after.status, world.states(record)) == (
        GroupStatus.COMPLETE, dict.fromkeys(servers, 'built'))
    assert world.vcpus_used() == 3


@pytest.mark.parametrize('document, path, message', [
    (nodes(most=2), 'node', 'name one of its servers'),
    (nodes(most=2), 'node-x', 'there is no member'),
    (nodes(most=2), 'edge-0', 'there is no member'),
    ({'name': 'shop', 'groups': [{'name': 'shard', 'count': {
        'desired': 0, 'max': 1}, 'members': nodes()['members']}]},
     'shard-3/edge-0', 'there is no member'),
])
def test_an_impossible_path_is_refused(document, path, message):
    with pytest.raises(InvalidDocument, match=message) as caught:
        parse_group(with_adoptions(document, {
            path: '155d900f-4e14-4e4c-a73d-069cbf4541e6'}),
            load_policy_types())
    assert 'adopt' in str(caught.value)


def test_a_document_with_too_many_servers_is_refused_at_once():
    number = '155d900f-4e14-4e4c-a73d-069cbf4541e{}'
    with pytest.raises(InvalidDocument, match='its maximum is 1'):
        parse_group(with_adoptions(
            {'name': 'shop', 'groups': [{
                'name': 'shard', 'count': {'desired': 1, 'max': 1},
                'members': nodes()['members']}]},
            {f'shard-{n}/node-0': number.format(n) for n in range(2)}),
            load_policy_types())


def test_a_detached_server_is_adopted_again(world):
    document, servers = adopting(nodes(), 0, 1, 2, world=world)
    before = allocated(world, servers.values())
    record = create(world, document)
    for number in range(3):
        path = f'node-{number}'
        assert detaching.detach(
            world.table.database, record.uuid, path,
            world.now) == Detached.DONE
        assert world.vcpus_used() == 3
        again = f'node-{number + 3}'
        after = update(world, record, with_adoptions(
            nodes(), {again: servers[path]}))
        assert (after.status, after.reasons) == (GroupStatus.COMPLETE, ())
        assert world.states(record)[again] == 'built'
        # A group that desires two servers has three, and holds no place.
        assert world.vcpus_used() == 3
        assert allocated(world, servers.values()) == before
    assert sorted(world.states(record).values()).count('built') == 3
    world.reconciler.reconcile()
    assert world.vcpus_used() == 3
    world.assert_agreement()
