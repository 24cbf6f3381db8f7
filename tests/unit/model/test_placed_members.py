# SPDX-License-Identifier: Apache-2.0
"""Numbers of members that follow changes equal those of a fresh count."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies.policy_evaluation import (
    scopes_of_members)
from tests.effort import examples

LEVELS = ('zone', 'rack', 'host')
ALL_LEVELS = (*LEVELS, 'power')
RULE = [{'type': 'anti-affinity'}]
GROUP = parse_group({
    'name': 'web', 'policies': RULE,
    'members': [{'name': f'm{number}', 'resources': {'VCPU': 1}}
                for number in range(3)],
    'groups': [
        {'name': 'db', 'policies': RULE, 'members': [
            {'name': 'node', 'count': 3, 'resources': {'VCPU': 1}}]},
        {'name': 'free', 'members': [
            {'name': 'node', 'resources': {'VCPU': 1}}]}]},
    load_policy_types())
PATHS = [*(member.path for member in GROUP.all_members()), 'no/member']
HOSTS = [Host(
    name=f'h{number}', node='', uuid='', location=location,
    inventories=FrozenMapping(), labels=FrozenMapping(labels))
    for number, (location, labels) in enumerate([
        (('z0', 'r0'), {'power': 'A'}), (('z0', 'r0'), {}),
        (('z0', 'r1'), {'power': 'B'}), (('z1', ''), {}), ((), {})])]

changes = st.dictionaries(
    st.sampled_from(PATHS), st.sampled_from([None, *HOSTS]), max_size=4)
steps = st.lists(st.tuples(
    st.booleans(), changes, st.sets(st.sampled_from(ALL_LEVELS))), max_size=6)


def new(hosts):
    return PlacedMembers(scopes_of_members(GROUP), LEVELS, hosts)


def numbers(placed, levels=ALL_LEVELS):
    return ({(scope.path, level): placed.at(scope, level)
             for scope in GROUP.scopes() for level in levels},
            {level: placed.all_at(level) for level in levels})


@examples(400)
@given(st.dictionaries(st.sampled_from(PATHS), st.sampled_from(HOSTS)), steps)
def test_kept_numbers_are_those_of_a_fresh_count(hosts, steps):
    """Each step keeps its changes or not, and counts some levels."""
    placed = new(hosts)
    for keeps, changed, levels in steps:
        other = (placed.with_changes if keeps else placed.variant)(changed)
        expected = {path: host for path, host
                    in {**placed.hosts, **changed}.items() if host is not None}
        assert other.hosts == expected
        assert dict(other) == expected
        assert numbers(other, levels) == numbers(new(expected), levels)
        # The object before the change is unchanged.
        assert numbers(placed) == numbers(new(placed.hosts))
        if keeps:
            placed = other
    assert numbers(placed) == numbers(new(placed.hosts))


class Hosts(dict):
    """Hosts by path, and the number of reads."""

    read = 0

    def __getitem__(self, path):
        self.read += 1
        return super().__getitem__(path)


@pytest.mark.parametrize('of_scope', [True, False])
def test_members_are_counted_once(of_scope):
    hosts = Hosts((path, HOSTS[0]) for path in PATHS)
    placed = new(hosts)
    scope = next(GROUP.scopes())

    def count(placed):
        return placed.at(scope, 'rack') if of_scope else placed.all_at('rack')

    for path in PATHS:
        count(placed.variant({path: None}))
    assert hosts.read == len(PATHS) - of_scope
    assert sum(count(placed.with_changes({'m0': None})).values()) == (
        len(PATHS) - of_scope - 1)
    assert hosts.read == len(PATHS) - of_scope
