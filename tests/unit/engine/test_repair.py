# SPDX-License-Identifier: Apache-2.0
"""A repair takes the smallest number of moves, in an order that violates no
policy."""

from types import SimpleNamespace

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.policies import load_policy_types
from nova_holistic.repair.proposal import propose, RepairCase
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from tests.unit.builders import cloud, host

CONF = cfg.ConfigOpts()
options.register_opts(CONF)
CONF([], project='nova-holistic')
APART = [{'type': 'anti-affinity', 'level': 'host'}]
BUILT, PLANNED = MemberState.BUILT, MemberState.PLANNED


class NoExclusiveGroups:
    def exclusive_groups(self):
        return ()


def flat(*names, policies=()):
    return {'name': 'shop', 'policies': list(policies), 'members': [
        {'name': name, 'resources': {'VCPU': 1}} for name in names]}


def located(**racks):
    """Members that must be in certain racks."""
    return {'name': 'shop', 'groups': [
        {'name': name, 'policies': [{'type': 'location', 'path': rack}],
         'members': [{'name': 's', 'resources': {'VCPU': 1}}]}
        for name, rack in racks.items()]}


def hosts(*racks, vcpus=4, used=(), disabled=()):
    """A host ``h-<rack>`` in each rack.

    :param used: names of hosts, once for each server
    """
    return cloud(*(host(
        f'h-{rack}', rack, enabled=rack not in disabled,
        servers=used.count(f'h-{rack}'),
        inventories={'VCPU': Inventory(
            total=vcpus, used=used.count(f'h-{rack}'))})
        for rack in racks))


def repaired(document, places, *racks, states=None, movable=None, **fields):
    """The proposed moves for members on these hosts, by path.

    :param states: states of members that are not built, by path
    """
    group = parse_group(document, load_policy_types())
    snapshot = hosts(*racks, used=list(places.values()), **fields)
    located = {each.name: each for each in snapshot.hosts}
    members = [MemberRecord(
        number, 'g', member, Place(
            places[member.path], '', '', located[places[member.path]].location,
            tuple(FrozenMapping().items())), f'hold-{number}', False,
        (states or {}).get(member.path, BUILT), f'server-{member.path}')
        for number, member in enumerate(group.all_members())]
    snapshot_planner = SnapshotPlanner(CONF,
                                       SimpleNamespace(
                                           snapshot=lambda: snapshot),
                                       NoExclusiveGroups(),
                                       load_policy_types(), lambda: 0.0)
    record = GroupRecord('g', 'shop', 'p', 'u', GroupStatus.DEGRADED,
                         document, 'spread')
    return propose(CONF, snapshot_planner, RepairCase(
        record, group, members, snapshot,
        places if movable is None else movable), {})


def moves(proposal):
    assert proposal.reasons == ()
    return [(move.member, move.source, move.destination)
            for move in proposal.moves]


def test_one_of_two_servers_moves_to_the_free_host():
    found = repaired(flat('a', 'b', 'c', policies=APART), {
        'a': 'h-1', 'b': 'h-1', 'c': 'h-2'}, '1', '2', '3')
    ((member, *hosts),) = moves(found)
    assert member in 'ab' and hosts == ['h-1', 'h-3']


def test_a_group_that_satisfies_its_policies_needs_no_move():
    found = repaired(flat('a', 'b', policies=APART), {
        'a': 'h-1', 'b': 'h-2'}, '1', '2')
    assert moves(found) == []


def test_a_server_that_cannot_move_stays():
    found = repaired(flat('a', 'b', policies=APART), {
        'a': 'h-1', 'b': 'h-1'}, '1', '2', movable=['b'])
    assert moves(found) == [('b', 'h-1', 'h-2')]


def test_a_server_on_a_disabled_host_stays_if_that_helps():
    places = {'a': 'h-1', 'b': 'h-1', 'c': 'h-2'}
    found = repaired(flat(*places, policies=APART), places, '1', '2', '3',
                     disabled=['2'])
    ((member, *_, destination),) = moves(found)
    assert member in 'ab' and destination == 'h-3'


def test_a_server_makes_room_before_another_one_takes_it():
    found = repaired(located(a='2', b='3'), {'a/s': 'h-1', 'b/s': 'h-2'},
                     '1', '2', '3', vcpus=1)
    assert moves(found) == [('b/s', 'h-2', 'h-3'), ('a/s', 'h-1', 'h-2')]


def test_a_chain_of_four_servers_is_put_in_order():
    names = 'dbca'
    places = {f'{name}/s': f'h-{"abcd".index(name) + 1}' for name in names}
    found = repaired(
        located(**{name: str("abcd".index(name) + 2) for name in names}),
        places, '1', '2', '3', '4', '5', vcpus=1)
    assert [member for member, *_ in moves(found)] == [
        'd/s', 'c/s', 'b/s', 'a/s']


def test_two_servers_that_could_only_swap_are_reported():
    found = repaired(located(a='2', b='1'), {'a/s': 'h-1', 'b/s': 'h-2'},
                     '1', '2', vcpus=1)
    assert found.moves == ()
    assert [reason.at for reason in found.reasons] == ['', 'a/s', 'b/s']
    assert 'too little free VCPU' in found.reasons[1].message
    assert found.reasons[1].names == ('h-2',)


def test_no_move_breaks_a_policy_that_holds():
    """Member c must leave host 2 before a or b may move there."""
    found = repaired(located(a='2', b='3') | {'policies': APART},
                     {'a/s': 'h-1', 'b/s': 'h-2'}, '1', '2', '3')
    assert [member for member, *_ in moves(found)] == ['b/s', 'a/s']


def test_a_planned_member_moves_before_a_server():
    found = repaired(flat('a', 'b', policies=APART), {
        'a': 'h-1', 'b': 'h-1'}, '1', '2', states={'a': PLANNED})
    assert (moves(found), found.planned_again) == ([], ('a',))


def test_reasons_state_why_no_repair_exists():
    found = repaired(flat('a', 'b', policies=APART), {
        'a': 'h-1', 'b': 'h-1'}, '1')
    assert found.moves == () and found.reasons


@pytest.mark.parametrize('level', ['rack', 'host'])
def test_members_with_affinity_are_brought_together(level):
    document = flat('a', 'b', 'c', policies=[
        {'type': 'affinity', 'level': level}])
    found = repaired(document, {'a': 'h-1', 'b': 'h-2', 'c': 'h-1'},
                     '1', '2')
    assert moves(found) == [('b', 'h-2', 'h-1')]
