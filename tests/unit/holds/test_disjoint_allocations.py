# SPDX-License-Identifier: Apache-2.0
"""Allocations that fit together, compared with every combination."""

from collections import Counter
import itertools

from hypothesis import given, strategies as st
import pytest

from nova_holistic.holds.disjoint_allocations import Choice, choose
from nova_holistic.holds.independent_parts import (
    independent_parts, merged, numbered, split)
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import ISOLATE, NONE, RequestGroup
from nova_holistic.table.provider_allocation import ProviderAllocation
from tests.effort import examples


def from_provider(name, amount=1):
    return ProviderAllocation(
        FrozenMapping({name: FrozenMapping({'VGPU': amount})}),
        FrozenMapping({'0': (name,)}))


def fits(chosen, isolated, free):
    used = Counter()
    for each in chosen:
        for provider, amounts in each.resources.items():
            for name, amount in amounts.items():
                used[provider, name] += amount
    pairs = [(owner, provider) for owner, each in zip(isolated, chosen)
             if owner is not None for provider in each.resources]
    return len(set(pairs)) == len(pairs) and all(
        amount <= free.get(key, 0) for key, amount in used.items())


@examples(200)
@given(st.lists(st.integers(0, 3), min_size=3, max_size=3),
       st.lists(st.tuples(st.integers(0, 1), st.booleans()),
                min_size=1, max_size=3))
def test_an_existing_combination_is_found(amounts, members):
    """Each member has two choices of the same list, isolated or not."""
    free = {(name, 'VGPU'): amount for name, amount in zip('abc', amounts)}
    lists = [[from_provider('a'), from_provider('b'), from_provider('c')],
             [from_provider('c'), from_provider('b')]]
    choices = [Choice(lists[number], owner if isolated else None)
               for owner, (number, isolated) in enumerate(members)
               for _ in range(2)]
    isolated = [each.isolated for each in choices]
    found = choose(choices, free)
    assert (found is not None) == any(
        fits(chosen, isolated, free) for chosen in itertools.product(
            *(each.options for each in choices)))
    if found is not None:
        assert fits(found, isolated, free)
        assert all(one in each.options for one, each in zip(found, choices))


def group(suffix, **resources):
    return RequestGroup(suffix, FrozenMapping(resources))


PORTS = Requirements(
    FrozenMapping({'VCPU': 1}), request_groups=(
        group('a-bandwidth', CUSTOM_BANDWIDTH=5), group('a-packets', VGPU=1),
        group('b-packets', VGPU=1), group('b-bandwidth', CUSTOM_BANDWIDTH=5),
        group('gpu', PGPU=1)),
    same_subtree=(frozenset(['a-bandwidth', 'a-packets']),
                  frozenset(['b-bandwidth', 'b-packets'])))


@pytest.mark.parametrize('policy', [NONE, ISOLATE])
def test_groups_of_one_subtree_are_one_part(policy):
    parts = independent_parts(Requirements(
        PORTS.resources, request_groups=PORTS.request_groups,
        group_policy=policy, same_subtree=PORTS.same_subtree))
    assert [[each.suffix for each in part.request_groups]
            for part in parts] == [
        [], ['a-bandwidth', 'a-packets'], ['b-bandwidth', 'b-packets'],
        ['gpu']]
    # One query of Placement serves both ports.
    assert numbered(parts[1]) == numbered(parts[2])
    assert numbered(parts[1]) != numbered(parts[3])


def test_an_allocation_is_the_sum_of_its_parts():
    whole = ProviderAllocation(
        FrozenMapping({
            'root': FrozenMapping({'VCPU': 1}),
            'agent': FrozenMapping({'VGPU': 2}),
            'bridge': FrozenMapping({'CUSTOM_BANDWIDTH': 10, 'PGPU': 1})}),
        FrozenMapping({
            '': ('root',), 'a-bandwidth': ('bridge',),
            'a-packets': ('agent',), 'b-packets': ('agent',),
            'b-bandwidth': ('bridge',), 'gpu': ('bridge',)}))
    parts = independent_parts(PORTS)
    divided = [split(whole, part, len(parts)) for part in parts]
    assert divided[1] == divided[2]
    assert divided[3].resources == {'bridge': {'PGPU': 1}}
    assert merged(parts, divided) == whole
