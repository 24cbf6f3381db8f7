# SPDX-License-Identifier: Apache-2.0
"""The programs of the how-to guides work as shown."""

import json
import pathlib
import re
import textwrap

import pytest
import webob
import yaml

from tests.functional.engine.world import SMALL
from tests.unit.api.service import MEMBER
from tests.unit.client.cloud import Cloud
from tests.unit.client.keystone import PASSWORD

GUIDES = pathlib.Path(__file__).parents[3] / 'doc/source/howto'
ONE = '8d4f2c1e-5b7a-4c3d-9e60-1f2a3b4c5d6e'
GROUP = {'name': 'shop', 'groups': [{
    'name': 'web',
    'members': [{'name': 'server', 'count': 2, 'resources': SMALL}],
    'policies': [{'type': 'anti-affinity', 'level': 'host'}]}]}


def program(guide):
    """The Python program of a guide."""
    text = (GUIDES / guide).read_text()
    (block,) = re.findall(r'code-block:: python\n\n((?: +.*\n|\n)+)', text)
    return textwrap.dedent(block)


class OtherServices:
    """The responses of Nova, Glance and Neutron that a create request needs.

    :ivar creates: bodies of the requests for servers
    """

    def __init__(self):
        self.creates = []

    def __call__(self, environ, start_response):
        request = webob.Request(environ)
        if request.method == 'POST' and request.path_info == '/servers':
            self.creates.append(request.json)
            answer = {'server': {'id': ONE, 'adminPass': 'secret'}}
        else:
            answer = self._named(request)
        return webob.Response(json_body=answer)(environ, start_response)

    @staticmethod
    def _named(request):
        kind = request.path_info.strip('/').split('/')
        names = {'images': 'debian-12', 'flavors': 'shop.web',
                 'networks': 'app', 'servers': 'web-server-0'}
        for word in kind:
            if word in ('ports', 'floatingips', 'subnets'):
                return {word: []}
            if word in names:
                one = {'id': ONE, 'name': names[word], 'status': 'ACTIVE',
                       'addresses': {}}
                return ({word[:-1]: one, **one} if kind[-1] == ONE
                        else {word: [one]})
        root = f'{request.host_url}{request.script_name}'
        return {'versions': [{
            'id': 'v2.1', 'status': 'CURRENT', 'version': '2.90',
            'min_version': '2.1', 'links': [{'rel': 'self', 'href': root}]}]}


@pytest.fixture
def others():
    return OtherServices()


@pytest.fixture
def cloud(service, others):
    with Cloud(service.app, {kind: others for kind in (
            'compute', 'image', 'network')}) as cloud:
        yield cloud


@pytest.fixture
def folder(tmp_path, monkeypatch, cloud):
    """A folder with ``shop.yaml``, in the environment of a user."""
    for name, value in {
            'auth_url': f'{cloud.url}/identity/v3', 'username': MEMBER.user,
            'password': PASSWORD, 'project_name': MEMBER.project,
            'user_domain_id': 'default', 'project_domain_id': 'default',
            'region_name': 'here'}.items():
        monkeypatch.setenv(f'OS_{name.upper()}', value)
    (tmp_path / 'shop.yaml').write_text(yaml.safe_dump(GROUP))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_sdk_program_creates_a_server_for_each_member(
        world, folder, others):
    exec(compile(program('terraform-ansible-sdk.rst'), 'guide', 'exec'), {})
    (group,) = world.table.list_groups()
    hints = [body['os:scheduler_hints'] if 'os:scheduler_hints' in body
             else body['OS-SCH-HNT:scheduler_hints']
             for body in others.creates]
    assert hints == [{'holistic_group': group.uuid,
                      'holistic_member': f'web/server-{number}'}
                     for number in range(2)], json.dumps(others.creates)
    # No server has claimed a member, so the release freed both members.
    assert set(world.states(group).values()) == {'released'}


def test_the_autoscaler_adds_members(world, cloud):
    namespace = {}
    exec(compile(program('autoscaler.rst'), 'guide', 'exec'), namespace)
    groups = cloud.client().groups
    group = groups.wait(groups.create(GROUP)['id'])
    assert namespace['scale_out'](groups, group['id'], 2) == [
        'web/server-2', 'web/server-3']
    with pytest.raises(RuntimeError, match='anti-affinity'):
        namespace['scale_out'](groups, group['id'], 2)
    assert len(groups.placements(group['id'])) == 4
