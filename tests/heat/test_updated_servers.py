# SPDX-License-Identifier: Apache-2.0
"""The members of an OS::Heat::ResourceGroup during its updates, with the API
of groups and the nested stack replaced: each server that Heat creates has a
member."""

from types import SimpleNamespace

from heat.common import grouputils
from heat.engine.resources import stack_resource
import pytest

from nova_holistic.heat import resource_group
from tests.heat.replaced_api import Groups
from tests.heat.templates import HEAD, pointing, resource_group as resources
from tests.heat.templates import server

POINTER = pointing('node-%index%', 'outside')


def template(count, properties=POINTER, rolling='', **more):
    """A template with a group of servers.

    :param more: properties of the group
    """
    text = resources('nodes', server(properties), count) + ''.join(f'''
      {name}: {value}''' for name, value in more.items())
    return f'{HEAD}resources:{text}' + (f'''
    update_policy: {{rolling_update: {rolling}}}''' if rolling else '')


class Nodes:
    """The resource, in a stack of which only the names of its servers exist.

    :ivar steps: names of the servers of each request of Heat
    """

    def __init__(self, heat, groups, monkeypatch):
        self._heat, self._groups, self._patch = heat, groups, monkeypatch
        self._data, self._stacks = {}, []
        self.names, self.steps = ['0'], []

    def update(self, before, after, types=None):
        """The names of the members afterwards."""
        old, new = [self._definition(text, types)
                    for text in (before, after)]
        made = resource_group.ResourceGroup('nodes', old, self._stacks[0])
        made.resource_id = 'nested'
        for name, replacement in (
                ('data', lambda: self._data),
                ('data_set', self._data.__setitem__),
                ('get_output', lambda name: {}),
                ('update_with_template', self._request)):
            self._patch.setattr(made, name, replacement)
        difference = {
            key: value for key, value in new.properties(
                made.properties_schema).items()
            if value != made.properties[key]}
        checkers = made.handle_update(new, new - old, difference)
        while not made.check_update_complete(checkers):
            pass
        return self.members()

    def members(self):
        return {each['name'] for each in self._groups.definition['members']
                if 'count' not in each}

    def definitions(self):
        return [(name, self._old) for name in self.names]

    def _definition(self, text, types):
        stack = self._heat.unvalidated(text, {}, types or {})
        self._stacks.append(stack)
        return stack['nodes'].t

    def _request(self, template, *_):
        definitions = template.resource_definitions(None)
        self.names, self._old = sorted(definitions), next(
            iter(definitions.values()))
        self.steps.append(self.names)
        assert {f'node-{name}' for name in self.names} <= self.members()


@pytest.fixture
def nodes(heat, monkeypatch):
    groups = Groups()
    monkeypatch.setattr(resource_group.api_client, 'client',
                        lambda user: SimpleNamespace(groups=groups))
    found = Nodes(heat, groups, monkeypatch)
    inspector = SimpleNamespace(
        member_names=lambda include_failed: found.names,
        size=lambda include_failed: len(found.names))
    monkeypatch.setattr(grouputils.GroupInspector, 'from_parent_resource',
                        lambda resource: inspector)
    monkeypatch.setattr(grouputils, 'get_member_definitions',
                        lambda resource: found.definitions())
    monkeypatch.setattr(stack_resource.StackResource,
                        'check_update_complete', lambda *_: True)
    return found


def test_a_server_that_is_removed_by_name_gets_a_substitute(nodes):
    assert nodes.update(template(1), template(3)) == {
        'node-0', 'node-1', 'node-2'}
    removal = '[{resource_list: ["1"]}]'
    assert nodes.update(template(3), template(
        3, removal_policies=removal)) == {'node-0', 'node-2', 'node-3'}
    # The name remains unused.
    assert nodes.update(template(3), template(4)) == {
        'node-0', 'node-2', 'node-3', 'node-4'}
    # With this mode, it is used again.
    assert nodes.update(template(4), template(
        2, removal_policies_mode='update')) == {'node-0', 'node-1'}


def test_servers_that_a_rolling_update_adds_have_places(nodes):
    rolling = '{min_in_service: 2, max_batch_size: 1}'
    nodes.update(template(1), template(2))
    changed = POINTER.replace('tiny', 'small')
    assert nodes.update(template(2), template(
        2, changed, rolling)) == {'node-0', 'node-1'}
    assert ['0', '1', '2'] in nodes.steps


def test_the_environment_may_give_servers_another_type(nodes):
    text = [template(count).replace('OS::Nova', 'My::Nova')
            for count in (1, 2)]
    assert nodes.update(*text, {'My::*': 'OS::*'}) == {'node-0', 'node-1'}
