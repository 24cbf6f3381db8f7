# SPDX-License-Identifier: Apache-2.0
"""The current placement of a group, as ``openstack holistic group map`` shows
it."""

import pytest

from nova_holistic.client.current_placement import current_plan, Mismatch
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, host

DEFINITION = {'name': 'farm', 'members': [
    {'name': 'render', 'count': 3, 'resources': {'VCPU': 2, 'VGPU': 1}},
    {'name': 'proxy', 'resources': {'VCPU': 4}}]}


def _with_cards(name, vcpus, *cards):
    """A host of which these numbers of VCPU and of VGPU on each card are in
    use."""
    return host(name, f'rack {name}', inventories={
        'VCPU': Inventory(16, used=vcpus)}, providers=tuple(
            NestedProvider(f'{name}-{number}', f'{name}-{number}', '',
                           FrozenMapping({'VGPU': Inventory(2, used=used)}))
            for number, used in enumerate(cards)))


def _record(objective):
    return {'name': 'farm', 'objective': objective, 'definition': DEFINITION}


def _placements(hosts, state='built'):
    return [{'member': path, 'host': name, 'node': name, 'state': state,
             'location': [f'rack {name}']} for path, name in hosts.items()]


@pytest.mark.parametrize('objective, value', [
    # The means of VCPU and VGPU: 4/16 and 1/4 of h1, 0/16 and 0/4 of h2.
    ('stack', (1 - (4 / 16 + 1 / 4) / 2) + 1),
    # h1: from 4 to 10 VCPU, and from 1 to 4 VGPU. h2: from 0 to 4 VCPU.
    ('fewest-hosts', 2)])
def test_the_value_counts_the_devices_of_nested_providers(objective, value):
    hosts = {'render-0': 'h1', 'render-1': 'h1', 'render-2': 'h1',
             'proxy': 'h2'}
    now = cloud(_with_cards('h1', 10, 2, 2), _with_cards('h2', 4, 0))
    plan, group, without = current_plan(
        _record(objective), _placements(hosts), now)
    assert plan.hosts() == hosts
    assert plan.objective.value == pytest.approx(value)
    assert {m.path for m in group.all_members()} == hosts.keys()
    assert [each.inventories['VCPU'].used for each in without.hosts] == [4, 0]


@pytest.mark.parametrize('objective', ['stack', 'spread', 'fewest-hosts'])
def test_a_built_group_has_the_value_of_its_plan(objective):
    before = cloud(_with_cards('h1', 4, 1, 0), _with_cards('h2', 0, 0))
    planned = solve(parse_group({'group': DEFINITION}, load_policy_types()),
                    before, objective=objective)
    members = {name: [path for path, on in planned.hosts().items()
                      if on == name] for name in ('h1', 'h2')}
    devices = {name: sum(path.startswith('render') for path in paths)
               for name, paths in members.items()}
    vcpus = {name: sum(2 if path.startswith('render') else 4
                       for path in paths) for name, paths in members.items()}
    used = 1 + devices['h1']
    now = cloud(
        _with_cards('h1', 4 + vcpus['h1'], min(2, used), max(0, used - 2)),
        _with_cards('h2', vcpus['h2'], devices['h2']))
    plan, _, _ = current_plan(
        _record(objective), _placements(planned.hosts()), now)
    assert plan.objective.value == pytest.approx(planned.objective.value)


def test_only_members_that_occupy_capacity_are_shown():
    now = cloud(_with_cards('h1', 2, 1))
    placements = [*_placements({'render-0': 'h1'}, 'claimed'),
                  *_placements({'render-1': 'h1', 'proxy': 'h1'}, 'released')]
    plan, _, _ = current_plan(_record('stack'), placements, now)
    assert plan.hosts() == {'render-0': 'h1'}


def test_an_unknown_host_is_named():
    with pytest.raises(Mismatch, match="member proxy: its host 'h9' is not"):
        current_plan(_record('stack'), _placements({'proxy': 'h9'}),
                     cloud(_with_cards('h1', 0, 0)))


def test_other_levels_are_reported():
    now = cloud(_with_cards('h1', 0, 0))
    placement, = _placements({'proxy': 'h1'})
    with pytest.raises(Mismatch, match='which are not the levels rack, host'):
        current_plan(_record('stack'), [{**placement, 'location': []}], now)
