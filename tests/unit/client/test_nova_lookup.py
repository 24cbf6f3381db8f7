# SPDX-License-Identifier: Apache-2.0
"""Commands find servers and server groups of Nova by name or ID."""

import json
import re
import types

from keystoneauth1 import session, token_endpoint
from osc_lib.exceptions import CommandError
import pytest
import webob
from webob import dec

from nova_holistic.client.osc.nova_lookup import NovaLookup
from tests.unit.client.loopback import Loopback

PAGE = 2
"""Number of servers, and of server groups, on one page of Nova."""
NAMES = ('detail', 'a', 'a b/c?d', 'b', 'twin', 'twin', 'TWIN', 'web.1',
         'webx1', '00000000-0000-4000-8000-000000000099')
ITEMS = [{'id': f'00000000-0000-4000-8000-{number:012}', 'name': name}
         for number, name in enumerate(NAMES)]


@dec.wsgify
def nova(request):
    """Shows and lists servers and server groups, page by page."""
    _, path, *rest = request.path_info.split('/')
    key = {'servers': 'servers', 'os-server-groups': 'server_groups'}[path]
    if rest and rest != ['detail']:
        (uuid,) = rest
        found = [each for each in ITEMS if each['id'] == uuid]
        return answer({key[:-1]: found[0]}) if found else (
            webob.Response(status=404))
    pattern = re.compile(request.GET.get('name', ''), re.IGNORECASE)
    known = [each for each in ITEMS if pattern.search(each['name'])]
    begin = int(request.GET.get('offset', 0))
    if 'marker' in request.GET:
        begin = 1 + [each['id'] for each in known].index(
            request.GET['marker'])
    body = {key: known[begin:begin + PAGE]}
    if key == 'servers' and known[begin + PAGE:]:
        body['servers_links'] = [{'rel': 'next', 'href': 'there'}]
    return answer(body)


def answer(body):
    return webob.Response(content_type='application/json', charset='UTF-8',
                          body=json.dumps(body).encode())


@pytest.fixture
def compute():
    with Loopback({'/compute': nova}) as loopback:
        yield nova_at(f'{loopback.url}/compute')


def nova_at(url):
    return NovaLookup(types.SimpleNamespace(
        session=session.Session(auth=token_endpoint.Token(url, 'token')),
        interface=None, region_name=None))


@pytest.mark.parametrize('kind', ['server', 'server_group'])
@pytest.mark.parametrize('item', [
    each for each in ITEMS if each['name'] != 'twin'],
    ids=lambda each: each['name'])
def test_a_server_or_group_is_found_by_name_and_by_id(compute, kind, item):
    for name_or_id in item['name'], item['id']:
        assert getattr(compute, kind)(name_or_id) == item
    assert compute.server_group_id(item['name']) == item['id']


@pytest.mark.parametrize('kind', ['server', 'server_group'])
def test_a_name_must_be_unique_and_known(compute, kind):
    first, second = (each['id'] for each in ITEMS if each['name'] == 'twin')
    find = getattr(compute, kind)
    with pytest.raises(CommandError, match=f"'twin': .* {first}, {second}$"):
        find('twin')
    for name in '', 'A', 'web', '../servers', '#':
        with pytest.raises(CommandError, match=f'there is no .* {name}$'):
            find(name)


def test_a_nova_whose_answer_is_not_usable_is_named():
    """The catalog contains the URL of a dashboard, or Nova is stopped."""
    dashboard = webob.Response('<html>Sign in</html>')
    with Loopback({'/dashboard': dashboard}) as loopback:
        compute = nova_at(f'{loopback.url}/dashboard')
        for find in (compute.server, compute.server_group,
                     compute.server_group_id):
            with pytest.raises(CommandError, match=(
                    'cannot be read: the response is not JSON; .* at '
                    f'{loopback.url}/dashboard/')):
                find('a')
    with pytest.raises(CommandError, match='group cannot be read: Unable'):
        compute.server_group_id('a')
