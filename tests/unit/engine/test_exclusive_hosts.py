# SPDX-License-Identifier: Apache-2.0
"""Hosts that other groups have reserved are closed to a plan."""

import pytest

from nova_holistic.engine.decision import exclusive_hosts
from nova_holistic.engine.decision.usable_snapshot import with_hosts_disabled
from nova_holistic.policies import load_policy_types
from nova_holistic.table.records import MemberState
from tests.unit.builders import cloud, host
from tests.unit.table.builders import a_group, members_of

SNAPSHOT = cloud(host('cmp-0', 'rack1'), host('cmp-1', 'rack1'),
                 host('cmp-0b', 'rack2'))


def exclusive(table, level, node='node'):
    """A group whose only member reserves cmp-0 in rack1."""
    group = a_group(exclusive=True, levels=('rack', 'host'), document={
        'name': 'alone', 'groups': [{
            'name': 'db', 'policies': [{'type': 'exclusive', 'level': level}],
            'members': [{'name': node, 'resources': {'VCPU': 1}}]}]})
    table.create_group(group)
    table.write_members(group.uuid, members_of(group, {node: None}))
    return group


def closed(table, group_uuid=None, types=None):
    return exclusive_hosts.closed_hosts(
        table, load_policy_types() if types is None else types, SNAPSHOT,
        group_uuid)


@pytest.mark.parametrize('level, hosts', [
    ('host', {'cmp-0'}), ('rack', {'cmp-0', 'cmp-1'})])
def test_all_hosts_of_a_reserved_domain_are_closed_to_others(
        table, level, hosts):
    group = exclusive(table, level)
    assert closed(table) == closed(table, 'another') == hosts
    assert closed(table, group.uuid) == set()


def test_a_lost_member_reserves_nothing(table):
    group = exclusive(table, 'host')
    (row,) = table.members(group.uuid)
    table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST, None)
    assert closed(table) == set()


def test_a_group_that_cannot_be_read_does_not_hide_another(table):
    """The package of a policy type of one group is no longer installed."""
    group = exclusive(table, 'host')
    table.update_group(group.uuid, [group.status], document={
        'name': 'alone', 'policies': [{'type': 'gone'}]})
    exclusive(table, 'rack')
    assert closed(table) == {'cmp-0', 'cmp-1'}


def test_closed_hosts_count_as_disabled_and_are_counted_in_a_reason():
    snapshot = cloud(host('a', 'r1'), host('b', 'r1'),
                     host('c', 'r1', enabled=False))
    shut = frozenset({'a', 'c'})
    assert [h.name for h in with_hosts_disabled(snapshot, shut).hosts
            if h.enabled] == ['b']
    hosts = {h.name: h for h in snapshot.hosts}
    (reason,) = exclusive_hosts.reasons(shut, hosts)
    # The third host is disabled anyway.
    assert '1 of 3 hosts' in reason.message
    assert exclusive_hosts.reasons(frozenset({'c'}), hosts) == ()
