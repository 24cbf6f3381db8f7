# SPDX-License-Identifier: Apache-2.0
"""Heat stacks that are bound to members, through the API."""

import jsonschema
import pytest

from nova_holistic.messaging.results import ShownBinding
from nova_holistic.model.stack_rules import StackRule
from nova_holistic.table.coordination.bindings import (
    Binding, BindingKind, stack_target)
from tests.statements import recorded
from tests.unit.api.service import NOON, refusal
from tests.unit.api.test_bindings import create, send, SERVER_GROUP
from tests.unit.scheduler.test_hinted import ASG, ROOT
from tests.unit.table import builders

__all__ = ('create',)
"""The fixture that creates servers."""
WORKERS = {'resource': 'asg/*', 'member': 'db/node'}


@pytest.fixture
def group(service):
    return builders.planned(service.table, web=None, node=2).uuid


def bind(service, group, *rules, stack='shop', **keys):
    return send(service, 'PUT', group, stack, {'binding': {
        'kind': 'heat-stack', 'rules': list(rules or [WORKERS]), **keys}})


def test_the_description_allows_stacks_as_targets(service):
    paths = service.ask('GET', '/v1/openapi.json').json['paths']
    for operation in paths['/v1/groups/{group_id}/bindings/{target}'].values():
        (target,) = [each['schema'] for each in operation['parameters']
                     if each['name'] == 'target']
        for name in ('shop', ROOT, SERVER_GROUP):
            jsonschema.validate(name, target)


def events(service, group):
    found = service.ask('GET', f'/v1/groups/{group}/events').json['events']
    return [(each['kind'], each['details']) for each in found
            if 'bound' in each['kind']]


@pytest.mark.parametrize('stack', ['shop', ROOT])
def test_a_stack_is_bound_and_unbound(service, group, stack):
    answer = bind(service, group, stack=stack)
    assert answer.status_int == 200
    assert answer.json['binding'] == {
        'kind': 'heat-stack', 'target': stack, 'path': '',
        'status': 'unchecked', 'created_at': '2030-01-01T12:00:00Z',
        'rules': [WORKERS]}
    assert send(service, 'DELETE', group, stack).status_int == 204
    assert refusal(send(service, 'DELETE', group, stack))[0] == 404
    named = {'binding': 'heat-stack', 'target': stack, 'path': ''}
    assert events(service, group) == [
        ('group.bound', named), ('group.unbound', named)]


def test_a_repeated_bind_replaces_the_rules(service, group):
    for rules, written in [
            ((WORKERS,), 1), ((WORKERS,), 1),
            (({'resource': 'one', 'member': 'db/web'}, WORKERS), 3)]:
        assert bind(service, group, *rules).json['binding'][
            'rules'] == list(rules)
        assert len(events(service, group)) == written
        (bound,) = service.table.bindings.of_group(group)
        assert len(bound.rules) == len(rules)


@pytest.mark.parametrize('keys, detail', [
    ({'kind': 'stack'}, "binding.kind: must be one of heat-stack, "
                        "server-group, not 'stack'"),
    ({'path': 'a' * 701}, 'binding.path: must be names from below the '
     'top-level group on, joined by single slashes: at most 700 characters'
     ", not '" + 'a' * 56 + '...'),
    ({'rules': 7}, 'binding.rules: must be a list, not 7'),
    ({'rules': [WORKERS] * 101},
     'binding.rules: must be a list of at most 100 values'),
    ({'rules': [{'resource': 'a//b'}]},
     'binding.rules[0].resource: must be names joined by single slashes: at '
     "most 700 characters, not 'a//b'"),
    ({'rules': [{'resource': 'a', 'member': ''}]},
     'binding.rules[0].member: must be names joined by single slashes: at '
     "most 700 characters, not ''"),
    ({'rules': [{'resource': 'web\n'}]},
     'binding.rules[0].resource: must be names joined by single slashes: at '
     "most 700 characters, not 'web\\n'"),
])
def test_a_binding_of_the_wrong_shape_is_refused(
        service, group, keys, detail):
    assert refusal(bind(service, group, **keys))[2] == detail


@pytest.mark.parametrize('keys, place', [
    ({'rules': []}, 'binding.rules'),
    ({'rules': [{'member': 'db/node'}]}, 'binding.rules[0]'),
    ({'rules': [{'resource': 'asg//*'}]}, 'binding.rules[0].resource'),
    ({'rules': [WORKERS, {'resource': 'a', 'member': 'db/no'}]},
     "binding.rules[1].member: the group has no member 'db/no'"),
    ({'rules': [{'resource': 'a', 'member': 'db/node-*'}]},
     'binding.rules[0].member'),
    ({'rules': [{'resource': 'asg/*', 'member': 'db/other-*'}]},
     'binding.rules[0].member'),
    # The path is relative to the group of the rule.
    ({'path': 'db', 'rules': [WORKERS]},
     "binding.rules[0].member: the group has no member 'db/db/node'"),
])
def test_a_wrong_rule_is_refused_with_its_position(
        service, group, keys, place):
    answer = send(service, 'PUT', group, 'shop', {'binding': {
        'kind': 'heat-stack', 'rules': [WORKERS], **keys}})
    assert refusal(answer)[0] == 400
    assert place in refusal(answer)[2]
    assert service.table.bindings.of_group(group) == ()


NONE_YET = {'min': 0, 'desired': 0, 'max': 3}
SMALL = {'VCPU': 1}


@pytest.mark.parametrize('document, members', [
    ({'members': [{'name': 'node', 'count': NONE_YET, 'resources': SMALL}]},
     ['node', 'node-*']),
    ({'groups': [{'name': 'db', 'members': [
        {'name': 'node', 'count': NONE_YET, 'resources': SMALL}]}]},
     ['db/node', 'db/node-*']),
    ({'groups': [{'name': 'shard', 'count': NONE_YET, 'members': [
        {'name': 'node', 'count': 2, 'resources': SMALL}]}]},
     ['shard-*/node', 'shard-*/node-1'])])
def test_members_that_do_not_exist_yet_are_bound(service, document, members):
    """A scaling group may start without servers."""
    web = {'name': 'web', 'resources': SMALL}
    group = service.planned({'name': 'shop', **document, 'members': [
        web, *document.get('members', ())]})
    rules = [{'resource': f'asg{number}/*', 'member': member}
             for number, member in enumerate(members)]
    answer = bind(service, group, *rules)
    assert (answer.status_int, answer.json['binding']['rules']) == (200, rules)
    assert refusal(bind(service, group, {
        'resource': 'other/*', 'member': 'other-*'})) == (
            400, 'holistic.invalid_document',
            "binding.rules[0].member: the group has no member 'other-*'")


def test_an_unknown_path_is_refused_with_its_position(service, group):
    assert refusal(bind(service, group, path='no')) == (
        400, 'holistic.unknown_member',
        f"binding.path: group {group} has no member 'no'")


def test_a_server_group_has_no_rules(service, group):
    answer = send(service, 'PUT', group, SERVER_GROUP, {
        'binding': {'rules': [WORKERS]}})
    assert refusal(answer)[0] == 400
    assert 'binding.rules' in refusal(answer)[2]


@pytest.mark.parametrize('stack', ['a b', '-shop', 'x' * 256])
def test_no_stack_has_such_a_name(service, group, stack):
    assert refusal(bind(service, group, stack=stack))[0] == 404


def test_a_stack_and_a_path_have_one_binding_each(service, group):
    assert bind(service, group).status_int == 200
    assert refusal(bind(service, group, {'resource': 'asg/*'},
                        path='db/node'))[:2] == (409, 'holistic.conflict')
    assert refusal(bind(service, group, stack='other'))[0] == 409
    assert bind(service, group, {'resource': 'asg/*'}, stack='other',
                path='db/node').status_int == 200


def test_a_group_that_is_planned_again_is_busy(service, group):
    service.ask('POST', f'/v1/groups/{group}/replan', {'replan': {}})
    assert refusal(bind(service, group))[:2] == (409, 'holistic.conflict')


def test_a_stack_is_listed_with_its_rules(service, group):
    service.engines.acts['bindings'] = lambda _: [ShownBinding(
        'heat-stack', 'shop', '', NOON.isoformat(), 'unchecked',
        [['asg/*', 'db/node']])]
    (shown,) = send(service, 'GET', group).json['bindings']
    assert (shown['target'], shown['rules']) == ('shop', [WORKERS])


@pytest.mark.parametrize('stack', ['shop', ROOT])
def test_nova_api_refuses_a_create_without_a_place(
        service, group, create, stack):
    bind(service, group, stack=stack)
    for number in range(2):
        assert create(**ASG) is None
        service.table.claim(group, 'db/node', builders.new_uuid(), NOON)
    assert '0 servers' in create(**ASG)
    # No rule matches these resources.
    assert create(**{**ASG, 'heat_path_in_stack': ['shop']}) is None
    assert create(**{**ASG, 'heat_root_stack_id': 'x',
                     'heat_path_in_stack': ['other', 'asg,b']}) is None


def test_the_stack_of_another_project_is_not_bound(service, create):
    """Its name and even its ID may be the same."""
    other = builders.planned(service.table, builders.a_group(
        project_id='other'), web=None, node=1)
    for stack in 'shop', ROOT:
        assert service.table.bindings.add(Binding(
            BindingKind.HEAT_STACK, stack_target('other', stack), other.uuid,
            f'db/{stack}', NOON, stack, (StackRule('asg/*', ''),)))
    assert create(**ASG) is None


def test_a_bound_server_group_takes_precedence_over_a_stack(service, group,
                                                            create):
    bind(service, group)
    service.table.bindings.add(Binding(
        BindingKind.SERVER_GROUP, SERVER_GROUP, group, 'db/web', NOON))
    service.table.claim(group, 'db/web', builders.new_uuid(), NOON)
    assert 'is claimed' in create(**ASG, group=SERVER_GROUP)
    assert create(**ASG) is None


@pytest.mark.parametrize('hints', [
    ASG, {**ASG, 'group': SERVER_GROUP}])
def test_a_create_sends_few_statements_in_nova_api(service, create, hints):
    with recorded(service.table.database.engine) as sent:
        assert create(**hints) is None
    assert len(sent.statements) == 1
