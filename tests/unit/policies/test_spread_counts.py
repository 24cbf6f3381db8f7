# SPDX-License-Identifier: Apache-2.0
"""The numbers of members show where ``spread`` allows another member, with the
same result as a check of the placement."""

from hypothesis import given
from hypothesis import strategies as st

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies.policy_evaluation import (
    scopes_of_members)
from tests.effort import examples

LEVELS = ('zone', 'rack', 'host')
TYPES = load_policy_types()


@st.composite
def clouds(draw):
    """Hosts in racks of two zones. Some racks have no enabled host, and some
    hosts are in no rack."""
    return [
        Host(name=f'h{number}', node='', uuid='',
             location=draw(st.sampled_from([
                 ('z0', 'r0'), ('z0', 'r1'), ('z0', 'r2'), ('z1', 'r0'),
                 ('z1', 'r1'), ('z0', ''), ()])),
             inventories=FrozenMapping(), enabled=draw(st.booleans()))
        for number in range(8)]


@st.composite
def groups(draw):
    policy = {'type': 'spread', 'level': draw(
        st.sampled_from(['rack', 'host', 'zone']))}
    limits = draw(st.sampled_from([
        ('max_skew',), ('min_domains',), ('max_skew', 'min_domains')]))
    for key in limits:
        policy[key] = draw(st.integers(key == 'min_domains', 4))
    confining = draw(st.sampled_from([[], [
        {'type': 'affinity', 'level': 'zone'}]]))
    return parse_group({
        'name': 'web', 'policies': [*confining, policy], 'members': [{
            'name': 'm', 'count': draw(st.integers(1, 9)),
            'resources': {'VCPU': 1}}]}, TYPES)


@given(clouds(), groups(), st.lists(st.integers(0, 7), max_size=8))
@examples(400)
def test_a_host_is_allowed_if_a_check_finds_no_further_violation(
        hosts, group, places):
    snapshot = Snapshot(LEVELS, tuple(hosts))
    *others, own = [member.path for member in group.all_members()]
    placement = {path: hosts[number] for path, number in zip(others, places)}
    scope, = group.scopes()
    policy = next(each for each in group.policies if each.type == 'spread')
    allows = policy.allows_another(scope, PlacedMembers(
        scopes_of_members(group), LEVELS, placement), snapshot)
    without = policy.check(scope, placement, snapshot).count
    assert [allows(host) for host in hosts] == [
        policy.check(scope, {**placement, own: host}, snapshot).count
        == without for host in hosts]
