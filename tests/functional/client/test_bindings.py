# SPDX-License-Identifier: Apache-2.0
"""The commands that bind server groups of Nova to members of a group."""

import json
import pathlib
import re
import shlex
import textwrap

import pytest
import webob

from nova_holistic.model.nova.server_group import ServerGroup
from tests.functional.engine.world import shop
from tests.unit.api.service import MEMBER
from tests.unit.client.cloud import Cloud, Terminal

WORKERS, TWINS, CONTROL_PLANE = (
    f'00000000-0000-4000-8000-00000000000{each}' for each in 'abd')
GUIDE = pathlib.Path(__file__).parents[3] / (
    'doc/source/howto/server-groups.rst')


def nova(environ, start_response):
    """Lists the server groups of the project, two on each page."""
    assert environ['PATH_INFO'] == '/os-server-groups'
    offset = int(webob.Request(environ).GET.get('offset', 0))
    return webob.Response(
        content_type='application/json', charset='UTF-8',
        body=json.dumps({'server_groups': [
            {'id': WORKERS, 'name': 'workers'},
            {'id': WORKERS, 'name': 'k8s-worker'},
            {'id': CONTROL_PLANE, 'name': 'k8s-control-plane'},
            {'id': TWINS, 'name': 'twin'},
            {'id': WORKERS, 'name': 'twin'}][offset:offset + 2]}).encode())(
                environ, start_response)


@pytest.fixture
def terminal(world, service, capsys, own_logging):
    for uuid in WORKERS, TWINS, CONTROL_PLANE:
        world.inventory.known_server_groups[uuid] = ServerGroup(
            uuid, 'soft-anti-affinity', MEMBER.project)
    with Cloud(service.app, {'compute': nova}) as cloud:
        yield Terminal(cloud, capsys)


@pytest.fixture
def group(type_, written):
    type_('group', 'create', '-f', written(shop(nodes=2)), '--wait')


@pytest.mark.parametrize('name', ['workers', WORKERS])
def test_a_server_group_is_bound_listed_and_unbound(
        group, read, type_, refused, name):
    for path in 'shop/db/node', 'shop/db':
        bound = read('group', 'bind', path, name)
        assert (bound['target'], bound['path'], bound['status']) == (
            WORKERS, 'db/node', 'active')
    assert read('group', 'binding', 'list', 'shop') == [
        {name: bound[name] for name in (
            'kind', 'target', 'path', 'status', 'created_at')}]
    assert type_('group', 'unbind', 'shop', name) == ''
    assert read('group', 'binding', 'list', 'shop') == []
    assert 'there is no binding' in refused('group', 'unbind', 'shop', name)


@pytest.mark.parametrize('words, message', [
    (('shop', 'workers'), 'is ambiguous: name one of its members'),
    (('shop/no', 'workers'), "has no member 'no'"),
    (('none/db', 'workers'), 'there is no group none'),
    (('shop/db', 'nobody'), 'there is no server group nobody'),
    (('shop/db', 'twin'), "more than one server group is named 'twin'"),
    (('shop/db', WORKERS.replace('0a', '0c')), 'unknown server group')])
def test_reasons_for_a_refused_binding(group, refused, words, message):
    assert message in refused('group', 'bind', *words)


def test_the_commands_of_the_guide_work(terminal, monkeypatch, tmp_path):
    text = GUIDE.read_text()
    (document,) = re.findall(r'code-block:: yaml\n\n((?: +.*\n|\n)+)', text)
    (tmp_path / 'k8s.yaml').write_text(textwrap.dedent(document))
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r'\$ openstack (holistic .*)', text)
    assert len(commands) == 5
    output = [terminal.openstack(*shlex.split(each)) for each in commands]
    assert [(each.code, each.err) for each in output] == [(0, '')] * 5
    assert all(each in output[3].out for each in (WORKERS, CONTROL_PLANE))


def test_a_deleted_server_group_is_shown(world, group, read, type_):
    type_('group', 'bind', 'shop/db', WORKERS)
    del world.inventory.known_server_groups[WORKERS]
    (bound,) = read('group', 'binding', 'list', 'shop')
    assert bound['status'] == 'deleted'
    # Another server group takes its place.
    type_('group', 'bind', 'shop/db', TWINS)
    assert [each['target'] for each in read(
        'group', 'binding', 'list', 'shop')] == [TWINS]


def test_a_stack_is_bound_listed_and_unbound(group, read, type_, refused):
    stack = '--heat-stack', 'my-stack'
    bound = read('group', 'bind', 'shop', *stack,
                 '--rule', 'one=db/node-0', '--rule', 'asg/*=db/node')
    assert (bound['kind'], bound['target'], bound['path']) == (
        'heat-stack', 'my-stack', '')
    assert bound['rules'] == [
        {'resource': 'one', 'member': 'db/node-0'},
        {'resource': 'asg/*', 'member': 'db/node'}]
    assert 'asg/*=db/node' in type_('group', 'binding', 'list', 'shop')
    assert [each['kind'] for each in read(
        'group', 'event', 'list', 'shop', '--kind', 'group.bound')] == [
            'group.bound']
    assert type_('group', 'unbind', 'shop', *stack) == ''
    assert "there is no binding 'my-stack'" in refused(
        'group', 'unbind', 'shop', *stack)


@pytest.mark.parametrize('words, message', [
    (('--heat-stack', 'a'), '--heat-stack and --rule must be given together'),
    (('workers', '--rule', 'a=b'),
     '--heat-stack and --rule must be given together'),
    (('--heat-stack', 'a', '--rule', 'a=no'),
     "binding.rules[0].member: the group has no member 'no'")])
def test_reasons_for_a_refused_binding_of_a_stack(group, refused, words,
                                                  message):
    assert message in refused('group', 'bind', 'shop', *words)


def test_the_commands_for_stacks_work(terminal, monkeypatch, tmp_path):
    """The commands of the guide for Heat."""
    text = (GUIDE.parent / 'heat.rst').read_text()
    text = text[text.index('Templates that you cannot change'):
                text.index('Updates of the stack')].replace('\\\n', '')
    (document,) = re.findall(r'code-block:: yaml\n\n((?: +.*\n|\n)+)', text)
    (tmp_path / 'cluster.yaml').write_text(textwrap.dedent(document))
    monkeypatch.chdir(tmp_path)
    create, bind, below, itself, unbind = [
        *re.findall(r'\$ openstack (holistic .*)', text),
        *('holistic ' + each for each in re.findall(
            r'``(group bind [^`]*)``', text)),
        *re.findall(r'``openstack (holistic .*)``', text)]
    for command in (create, bind, unbind, below, unbind, itself):
        output = terminal.openstack(*shlex.split(command))
        assert (output.code, output.err) == (0, ''), command
    listed = terminal.openstack(
        'holistic', 'group', 'binding', 'list', 'cluster').out
    assert 'workers/*=' in listed
