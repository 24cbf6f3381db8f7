# SPDX-License-Identifier: Apache-2.0
"""The examples of the API reference match the responses of the API."""

import pathlib
import re

from cryptography.fernet import Fernet
import pytest
import yaml

from nova_holistic.api.routes import ROUTES
from nova_holistic.boot.credential_cipher import CredentialCipher
from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.credentials.registered import (
    RegisteredCredentials)
from nova_holistic.federation.credentials.registrations import Registrations
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.http.traffic import HttpLimits
from nova_holistic.model.nova.server_group import ServerGroup
from nova_holistic.table.store import PlacementTable
from tests.functional.engine.adopting import a_server
from tests.functional.engine.world import shop, SMALL
from tests.tables import new_table
from tests.unit.api.service import ADMIN, MEMBER, NOON, Service
from tests.unit.client.loopback import Loopback
from tests.unit.federation.keystone import ChildKeystone

EXAMPLES = yaml.safe_load((
    pathlib.Path(__file__).parents[3]
    / 'doc/source/api/examples.yaml').read_text())
PAIR = {'name': 'pair', 'policies': [
    {'type': 'anti-affinity', 'level': 'rack'}], 'members': [
        {'name': 'n', 'count': 2, 'resources': SMALL}]}


class Conversation:
    """The requests of the examples, with the ids of this run."""

    def __init__(self, service):
        self._service = service
        self._ids = {}

    def repeat(self, example):
        """Send the request, and compare the response with the documented
        form."""
        path = re.sub(r'\{(\w+)\}', lambda match: self._ids[match[1]],
                      example['path'])
        answer = self._service.ask(
            example['method'], path, example.get('request'),
            ADMIN if 'as' in example else MEMBER, example.get('headers'))
        assert answer.status_int == example['status'], answer.text
        body = answer.json if answer.body else None
        if example['path'] != '/v1/openapi.json':
            assert form(body) == form(example.get('response'))
        for kind in ('group', 'plan'):
            if example['status'] == 201 and kind in body:
                self._ids[f'{kind}_id'] = body[kind]['id']

    def about(self, group):
        self._ids['group_id'] = group


def form(value):
    """Keys and types of values, which are equal in all runs."""
    if isinstance(value, dict):
        return {key: form(each) for key, each in value.items()}
    if isinstance(value, list):
        return [form(each) for each in value]
    return type(value)


def test_the_conversation_of_the_reference_can_be_repeated(world, service):
    (uuid,) = {each['path'].rpartition('/')[2] for each in EXAMPLES
               if each['operation'] == 'bindings.bind'
               and 'kind' not in each['request']['binding']}
    world.inventory.known_server_groups[uuid] = ServerGroup(
        uuid, 'soft-anti-affinity', MEMBER.project)
    conversation = Conversation(service)
    for example in EXAMPLES:
        if 'with' not in example:
            conversation.repeat(example)


@pytest.mark.leaves('servers that move past Placement')
def test_the_repair_of_the_reference_can_be_repeated(world, service):
    (example,) = [each for each in EXAMPLES if each.get('with') == 'moved']
    group = world.create(PAIR)
    first, second = [world.build(group, path) for path in ('n-0', 'n-1')]
    world.instances.set(second.instance_uuid, 'ACTIVE', first.place.host)
    world.reconciler.reconcile()
    conversation = Conversation(service)
    conversation.about(group.uuid)
    conversation.repeat(example)


def test_the_actions_of_the_reference_can_be_repeated(world, service):
    (example,) = [each for each in EXAMPLES if each.get('with') == 'together']
    group = world.create({**PAIR, 'policies': [
        {'type': 'location', 'path': 'a'}]})
    for path in ('n-0', 'n-1'):
        world.build(group, path)
    world.table.settle(group.uuid, world.clock())
    conversation = Conversation(service)
    conversation.about(group.uuid)
    conversation.repeat(example)


def test_the_adoption_of_the_reference_can_be_repeated(world, service):
    group = world.create(shop())
    conversation = Conversation(service)
    conversation.about(group.uuid)
    for example in EXAMPLES:
        if example.get('with') == 'server':
            for server in example['request'].get('adopt', {}).values():
                a_server(world, 'a1', instance=server)
            conversation.repeat(example)


def test_each_operation_has_an_example():
    named = {each['operation'] for each in EXAMPLES}
    assert named == {
        f'{route.handler.__module__.rpartition(".")[2]}.'
        f'{route.handler.__name__}' for route in ROUTES}


def test_the_federation_of_the_reference_can_be_repeated(tmp_path):
    table = PlacementTable(new_table(tmp_path))
    with Loopback({'/v3': ChildKeystone()}) as loopback:
        stored = RegisteredCredentials(
            table.child_credentials,
            CredentialCipher([Fernet.generate_key().decode()]), lambda: NOON)
        children = UserChildren([
            ChildEntry('dfw', region='dfw'),
            ChildEntry('ams', keystone=f'{loopback.url}/v3')],
            HttpLimits(), stored, lambda: NOON)
        service = Service(table)
        service.credentials = Registrations(children, stored)
        service.renew()
        conversation = Conversation(service)
        listing, *changes = [each for each in EXAMPLES
                             if each.get('with') == 'children']
        conversation.repeat(changes[0])
        conversation.repeat(listing)
        conversation.repeat(changes[1])
