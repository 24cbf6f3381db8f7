# SPDX-License-Identifier: Apache-2.0
"""The API of groups is restarted while Heat waits for a plan. The stack does
not fail."""

import json

from heat.engine import resources
from keystoneauth1 import session, token_endpoint
import pytest
import webob

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from nova_holistic.heat import api_client, group
from nova_holistic.heat.group_revision import Replacement
from tests.heat.templates import HEAD
from tests.unit.client.loopback import Loopback

TEMPLATE = HEAD + '''
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties:
      members: [{name: a, resources: {VCPU: 1}}]
'''
UNAVAILABLE = webob.Response(status=503)
TOO_MANY_REQUESTS = webob.Response(status=429)
PLANNED = {'task': None, 'status': 'planned', 'revision': 2, 'reasons': []}


def answer(**keys):
    return webob.Response(content_type='application/json', charset='UTF-8',
                          body=json.dumps({'group': PLANNED | keys}).encode())


@pytest.fixture
def api(monkeypatch):
    """The next answers of the API."""
    answers = []
    with Loopback({'/holistic': lambda environ, start: answers.pop(0)(
            environ, start)}) as loopback:
        client = Client(session.Session(auth=token_endpoint.Token(
            f'{loopback.url}/holistic', 'token')))
        monkeypatch.setattr(api_client, 'client', lambda user: client)
        yield answers


@pytest.fixture
def shop(heat, monkeypatch):
    # The option ``plugin_dirs`` of a heat-engine does the same.
    for name, kind in group.resource_mapping().items():
        resources.global_env().register_class(name, kind)
    # A resource has only a weak reference to its stack.
    stack = heat.stack(TEMPLATE, {})
    monkeypatch.setattr(stack['shop'], 'data_set', lambda key, value: None)
    stack['shop'].resource_id = '11111111-2222-3333-4444-555555555555'
    yield stack['shop']


@pytest.mark.parametrize('is_complete', [
    'check_create_complete', 'check_check_complete'])
def test_heat_waits_for_an_api_that_is_restarted(api, shop, is_complete):
    api += [UNAVAILABLE, answer(task='plan'), TOO_MANY_REQUESTS, answer()]
    assert [getattr(shop, is_complete)(None) for _ in range(4)] == [
        False, False, False, True]


def test_an_update_waits_for_an_api_that_is_restarted(api, shop):
    api += [UNAVAILABLE, answer()]
    update = Replacement({}, None, None, replaced=1)
    assert [shop.check_update_complete(update) for _ in range(2)] == [
        False, True]


def test_heat_does_not_wait_for_a_group_that_it_may_not_read(api, shop):
    api.append(webob.Response(status=403))
    with pytest.raises(Refused):
        shop.check_create_complete(None)
