# SPDX-License-Identifier: Apache-2.0
"""Nova and the group API, with faults that a test arranges."""

import re
import uuid

from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
import requests

from nova_holistic.client.boot.compute import Compute
from nova_holistic.client import errors
from nova_holistic.client.groups import Groups

NOVA = 'http://nova'
GROUP = '11111111-2222-3333-4444-555555555555'
SERVER = {'imageRef': '155d900f-4e14-4e4c-a73d-069cbf4541e6'}


def fault(message):
    return {'badRequest': {'code': 400, 'message': message}}


class Cloud:
    """Nova and the group API in memory.

    :ivar mock: the mock of Nova
    :ivar servers: Nova's documents of servers by UUID
    :ivar states: states of the members by path
    :ivar builds: the statuses of the next servers after their build; later
        servers become active
    :ivar refusals: responses to the next creates: a status, and a body or an
        exception; ``accepted`` in place of the body creates the server first
    :ivar headers: headers of the responses that refuse a create
    :ivar unanswered: number of requests for placements that fail
    """

    def __init__(self, mock, *members):
        self.members = {'name': 'shop', 'members': [
            {'name': name, 'flavor': 'small', 'server': SERVER}
            for name in members]}
        self.states = dict.fromkeys(members, 'planned')
        self.servers, self.creates, self.deleted = {}, [], []
        self.builds, self.refusals, self.unanswered = [], [], 0
        self.group_requests, self.mock, self.headers = [], mock, {}
        self.compute = Compute(Session(auth=Token(NOVA, 'token')))
        self.groups = Groups(self._group_api)
        mock.get(f'{NOVA}/flavors', json=self._flavors)
        mock.get(f'{NOVA}/servers/detail', json=self._list)
        mock.post(f'{NOVA}/servers', json=self._create)
        mock.get(re.compile(f'{NOVA}/servers/[0-9a-f-]{{36}}'),
                 json=self._show)
        mock.delete(re.compile(f'{NOVA}/servers/[0-9a-f-]{{36}}'),
                    status_code=204, json=self._delete)

    @property
    def group(self):
        return {'id': GROUP, 'name': 'shop', 'definition': self.members,
                'task': None}

    def add(self, member, status='ACTIVE', claimed=True, **keys):
        """Add an existing server; returns its UUID.

        :param keys: further keys of Nova's document
        """
        found = str(uuid.uuid4())
        self.servers[found] = {
            'id': found, 'status': status, 'metadata': {
                'holistic_group': GROUP, 'holistic_member': member},
            **({'fault': {'message': 'out of order'}}
               if status == 'ERROR' else {}), **keys}
        if claimed:
            self.servers[found]['claimed'] = member
            self.states[member] = 'claimed'
        return found

    def _group_api(self, method, path, **options):
        self.group_requests.append((method, path))
        if path.endswith('/placements'):
            if self.unanswered:
                self.unanswered -= 1
                raise errors.Refused(503, '', 'unavailable')
            claims = {server.get('claimed'): server['id']
                      for server in self.servers.values()}
            return {'placements': [
                {'member': name, 'state': state,
                 'instance_uuid': claims.get(name)}
                for name, state in self.states.items()]}
        if path.endswith('/release'):
            return {'released': [], 'kept': []}
        return {'group': self.group}

    def _flavors(self, request, context):
        if 'marker' not in request.qs:
            return {'flavors': [{'id': 'a', 'name': 'tiny'}],
                    'flavors_links': [{'rel': 'next', 'href': 'unused'}]}
        return {'flavors': [{'id': 'b', 'name': 'small'}]}

    def _list(self, request, context):
        assert request.qs['tags'] == [f'holistic_group={GROUP}']
        return {'servers': [server for server in self.servers.values()
                            if server['metadata']]}

    def _create(self, request, context):
        body = request.json()
        member = body['os:scheduler_hints']['holistic_member']
        self.creates.append(body)
        if self.refusals:
            status, answer = self.refusals.pop(0)
            if answer == 'accepted':
                self.add(member, claimed=False)
                raise requests.exceptions.ConnectionError('cut off')
            context.status_code = status
            context.headers.update(self.headers)
            return answer
        context.status_code = 202
        return {'server': {'id': self.add(
            member, self.builds.pop(0) if self.builds else 'ACTIVE')}}

    def _show(self, request, context):
        found = self.servers.get(request.path.rpartition('/')[2])
        if found is None:
            context.status_code = 404
            return {'itemNotFound': {'code': 404, 'message': 'gone'}}
        return {'server': found}

    def _delete(self, request, context):
        found = request.path.rpartition('/')[2]
        self.deleted.append(found)
        server = self.servers.pop(found, {})
        if 'claimed' in server:
            self.states[server['claimed']] = 'planned'
