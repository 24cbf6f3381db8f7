# SPDX-License-Identifier: Apache-2.0
"""The part of Nova's API that reads servers. It records the requests."""

from datetime import datetime
import re

from keystoneauth1 import adapter, session, token_endpoint
import requests
import requests_mock

URL = 'http://nova.example.org/v2.1'
CHANGES = 'changes-since'
GONE = {'status': 'DELETED'}


class Nova:
    """Servers in memory and the API that reads them.

    :ivar asked: path and query of each request
    :ivar broken: UUIDs of servers for which it returns an error; CHANGES means
        the list of changes
    :ivar unlisted: UUIDs of servers that exist but are in no list
    """

    def __init__(self, clock):
        """:param clock: returns naive UTC"""
        self._clock = clock
        self._servers = {}
        self.asked = []
        self.broken = set()
        self.unlisted = set()
        api = requests_mock.Adapter()
        api.register_uri('GET', re.compile(re.escape(f'{URL}/servers/')),
                         json=self._answer)
        http = requests.Session()
        http.mount('http://', api)
        self.adapter = adapter.Adapter(
            session.Session(auth=token_endpoint.Token(URL, 'token'),
                            session=http), service_type='compute')

    def set(self, uuid, host='a1', status='ACTIVE', project='blue'):
        self._servers[uuid] = {
            'id': uuid, 'status': status, 'tenant_id': project,
            'OS-EXT-SRV-ATTR:host': host,
            'OS-EXT-SRV-ATTR:hypervisor_hostname': host,
            'updated': self._clock()}

    def delete(self, uuid):
        self._servers[uuid].update(status='DELETED', updated=self._clock())

    def requests(self):
        """The number of requests since the last call."""
        number, self.asked = len(self.asked), []
        return number

    def _answer(self, request, context):
        self.asked.append(request.path + '?' + request.query)
        uuid = request.path.rpartition('/')[2]
        if CHANGES in self.broken & request.qs.keys():
            context.status_code = 500
        elif uuid == 'detail':
            return {'servers': self._page({
                name: values[0] for name, values in request.qs.items()})}
        elif uuid in self.broken:
            context.status_code = 500
        elif self._servers.get(uuid, GONE)['status'] == 'DELETED':
            context.status_code = 404
        else:
            return {'server': _shown(self._servers[uuid])}

    def _page(self, query):
        """One page; the newest server is first, as in Nova."""
        if 'uuid' in query:
            server = self._servers.get(query['uuid'], {})
            deleted = server.get('status') == 'DELETED'
            return [_shown(server)] if deleted else []
        since = query.get(CHANGES)
        listed = [server for uuid, server in reversed(self._servers.items())
                  if uuid not in self.unlisted
                  and query.get('project_id') in (None, server['tenant_id'])
                  and (server['updated'] >= _moment(since) if since
                       else server['status'] != 'DELETED')]
        start = next((number for number, server in enumerate(listed, 1)
                      if server['id'] == query.get('marker')), 0)
        return [_shown(server) for server
                in listed[start:start + int(query['limit'])]]


def _moment(text):
    return datetime.strptime(text.upper(), '%Y-%m-%dT%H:%M:%SZ')


def _shown(server):
    return {name: value for name, value in server.items()
            if name != 'updated'}
