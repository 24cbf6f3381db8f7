# SPDX-License-Identifier: Apache-2.0
"""Constraints of plans that follow from Nova's filters."""

from dataclasses import replace

import pytest

from nova_holistic.constraints import group_constraints
from nova_holistic.constraints.group_constraints import PlanningContext
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.server_group import ServerGroup
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, host

TYPES = load_policy_types()
GROUP = '11111111-2222-3333-4444-555555555555'
ALL = NovaOptions(enabled_filters=frozenset([
    'ServerGroupAffinityFilter', 'ServerGroupAntiAffinityFilter',
    'NumInstancesFilter', 'AggregateTypeAffinityFilter']))
SMALL = Flavor('small', '1', FrozenMapping({'VCPU': 1}))


def clouded(policy='anti-affinity', hosts=('x', 'y'), **fields):
    """Large hosts and a server group."""
    return replace(
        cloud(*(replace(host(name, 'r1'), aggregates=frozenset({f'u-{name}'}))
                for name in hosts)),
        flavors={'small': SMALL},
        server_groups={GROUP: ServerGroup(GROUP, policy, **fields)})


def shop(count=1, **keys):
    return parse_group({'name': 'shop', 'members': [
        {'name': 'a', 'flavor': 'small', 'count': count, **keys}]}, TYPES)


def planned(snapshot, group, situation=PlanningContext(), options=ALL):
    """The host of each path; None if the group is unplaceable."""
    marked, _ = group_constraints.with_refusals(snapshot, group, situation,
                                                options)
    asked = group_constraints.with_constraints(
        group, marked, options,
        lambda one, other: TYPES.relationships['affinity'].from_document(
            {'between': (one, other), 'level': 'host'}, weight=None,
            place=''))
    answer = solve(asked, marked, placed=situation.placed)
    assert isinstance(answer, Plan | Unplaceable)
    if isinstance(answer, Unplaceable):
        return None
    assert not check(bind(asked, marked), marked, answer.hosts(),
                     situation.placed)
    return answer.hosts()


def test_servers_of_the_server_group_count():
    snapshot = clouded(hosts=('x', 'y'), max_per_host=1, )
    taken = replace(snapshot, server_groups={GROUP: ServerGroup(
        GROUP, 'anti-affinity', hosts=FrozenMapping({'s': 'x'}))})
    assert planned(taken, shop(server_group=GROUP)) == {'a-0': 'y'}
    assert planned(taken, shop(2, server_group=GROUP)) is None
    assert planned(taken, shop(2)) is not None


@pytest.mark.parametrize('most, count, fits', [
    (1, 2, True), (1, 3, False), (2, 4, True), (2, 5, False)])
def test_members_share_max_server_per_host(most, count, fits):
    found = planned(clouded(max_per_host=most),
                    shop(count, server_group=GROUP))
    assert (found is not None) == fits


def test_a_placed_member_counts_once_with_and_without_a_server():
    group = shop(2, server_group=GROUP)
    for hosts, own in ({}, ()), ({'s': 'x'}, {'s'}):
        snapshot = replace(clouded(), server_groups={GROUP: ServerGroup(
            GROUP, 'anti-affinity', hosts=FrozenMapping(hosts))})
        assert planned(snapshot, group, PlanningContext(
            placed={'a-0': 'x'}, own_servers=own)) == {
                'a-0': 'x', 'a-1': 'y'}


def test_affinity_follows_placed_members():
    assert planned(
        clouded('affinity'), shop(2, server_group=GROUP),
        PlanningContext(placed={'a-0': 'y'})) == {'a-0': 'y', 'a-1': 'y'}


def test_affinity_without_servers_keeps_members_together():
    found = planned(clouded('affinity'), shop(3, server_group=GROUP))
    assert len(set(found.values())) == 1


@pytest.mark.parametrize('policy', ['affinity', 'anti-affinity'])
def test_a_filter_that_is_not_enabled_limits_nothing(policy):
    snapshot = replace(clouded(policy), server_groups={GROUP: ServerGroup(
        GROUP, policy, hosts=FrozenMapping({'s': 'x', 't': 'y'}))})
    assert planned(snapshot, shop(2, server_group=GROUP),
                   options=NovaOptions()) is not None


@pytest.mark.parametrize('servers, fits', [(47, True), (48, False)])
def test_held_places_count_as_servers(servers, fits):
    found = planned(clouded(hosts=('x',)), shop(3), PlanningContext(
        servers={'x': servers}))
    assert (found is not None) == fits


def test_members_of_one_description_share_a_trait():
    snapshot = replace(clouded(), aggregates={
        'u-x': {'instance_type': 'large'}})
    marked, reasons = group_constraints.with_refusals(
        snapshot, shop(5), PlanningContext(), ALL)
    (trait,) = marked.hosts[0].traits
    assert trait == 'refused by Nova: flavor small'
    assert not marked.hosts[1].traits
    assert [reason.message for reason in reasons] == [
        'Nova refuses 1 of 2 hosts for this member '
        "(AggregateTypeAffinityFilter 1): these have the trait "
        "'refused by Nova: flavor small'"]
    assert set(planned(snapshot, shop(5)).values()) == {'y'}


def test_without_constraints_the_hosts_are_the_same_objects():
    snapshot = clouded('soft-affinity')
    options = replace(ALL, enabled_filters=frozenset([
        'AggregateTypeAffinityFilter']))
    marked, reasons = group_constraints.with_refusals(
        snapshot, shop(server_group=GROUP), PlanningContext(), options)
    assert marked is snapshot and not reasons


@pytest.mark.parametrize('image, volume, hosts', [
    ('secret', False, {'x'}), ('public', False, {'y'}),
    ('public', True, {'y'}), ('secret', True, {'x', 'y'}),
    (None, True, {'x', 'y'}), (None, False, {'x', 'y'})])
def test_nova_may_know_the_isolated_image_of_a_root_volume(
        image, volume, hosts):
    snapshot = replace(clouded(), images={
        name: Image(name, id=f'id-{name}') for name in ('secret', 'public')})
    options = NovaOptions(
        enabled_filters=frozenset(['IsolatedHostsFilter']),
        isolated_hosts=frozenset({'x'}),
        isolated_images=frozenset({'id-secret'}))
    keys = {'image': image} if image else {}
    found = {name for name in ('x', 'y') if planned(
        snapshot, shop(boot_from_volume=volume, location=f'r1/{name}', **keys),
        options=options)}
    assert found == hosts


@pytest.mark.parametrize('trait, fits', [
    ('CUSTOM_LICENSED', True), ('CUSTOM_OTHER', False)])
def test_traits_of_request_groups_open_isolated_aggregates(trait, fits):
    snapshot = clouded(hosts=('x',))
    (only,) = snapshot.hosts
    snapshot = replace(
        snapshot,
        hosts=(replace(only, traits=frozenset(
            {'CUSTOM_LICENSED', 'CUSTOM_OTHER'})),),
        aggregates={'u-x': {'trait:CUSTOM_LICENSED': 'required'}},
        flavors={'small': replace(SMALL, request_groups=(RequestGroup(
            '1', FrozenMapping({'VCPU': 1}), frozenset({trait})),))})
    marked, _ = group_constraints.with_refusals(
        snapshot, shop(), PlanningContext(),
        NovaOptions(enable_isolated_aggregate_filtering=True))
    assert (marked is snapshot) == fits


def test_traits_of_the_ports_of_a_member_open_isolated_aggregates():
    """Two members of one flavor differ by their ports."""
    snapshot = replace(clouded(), aggregates={
        'u-x': {'trait:CUSTOM_PHYSNET': 'required'}})
    options = NovaOptions(enable_isolated_aggregate_filtering=True)
    group = parse_group({'name': 'shop', 'members': [
        {'name': 'a', 'flavor': 'small', 'request_groups': {'port': {
            'resources': {'CUSTOM_BANDWIDTH': 1},
            'traits': {'required': ['CUSTOM_PHYSNET']}}}},
        {'name': 'b', 'flavor': 'small'}]}, TYPES)
    marked, reasons = group_constraints.with_refusals(
        snapshot, group, PlanningContext(), options)
    asked = group_constraints.with_constraints(
        group, marked, options, lambda one, other: None)
    refused = {member.path: [
        each.name for each in marked.hosts
        if each.traits & member.requirements.forbidden_traits]
        for member in asked.all_members()}
    assert refused == {'a': [], 'b': ['x']}
    assert [reason.at for reason in reasons] == ['b']


@pytest.mark.parametrize('specs, fits', [
    ({'hw:sound_model': 'virtio'}, False),
    ({'hw:sound_model': 'virtio',
      'trait:COMPUTE_SOUND_MODEL_VIRTIO': 'required'}, True),
    ({'trait:COMPUTE_SOUND_MODEL_VIRTIO': 'required'}, True)])
def test_traits_of_request_filters_do_not_open_isolated_aggregates(
        specs, fits):
    snapshot = replace(
        clouded(hosts=('x',)), aggregates={
            'u-x': {'trait:COMPUTE_SOUND_MODEL_VIRTIO': 'required'}},
        flavors={'small': replace(
            SMALL, extra_specs=FrozenMapping(specs), required_traits=frozenset(
                {'COMPUTE_SOUND_MODEL_VIRTIO'}))})
    marked, _ = group_constraints.with_refusals(
        snapshot, shop(), PlanningContext(),
        NovaOptions(enable_isolated_aggregate_filtering=True))
    assert (marked is snapshot) == fits


@pytest.mark.parametrize('aggregates, hosts', [
    ({}, {'x'}), ({'u-x': {'availability_zone': 'az1'}}, {'x'}),
    ({'u-y': {'availability_zone': 'az2'}}, {'x', 'y'})])
def test_a_default_zone_without_an_aggregate_restricts_no_hosts(
        aggregates, hosts):
    snapshot = clouded()
    snapshot = replace(snapshot, aggregates=aggregates, hosts=tuple(
        replace(each, availability_zone=zone)
        for each, zone in zip(snapshot.hosts, ('az1', 'az2'), strict=True)))
    marked, _ = group_constraints.with_refusals(
        snapshot, shop(), PlanningContext(),
        NovaOptions(default_schedule_zone='az1'))
    assert {each.name for each in marked.hosts if not each.traits} == hosts
