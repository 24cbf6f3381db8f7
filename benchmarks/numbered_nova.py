# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.numbered_nova PORT HOSTS GROUPS MEMBERS``: answers
what an engine asks Nova, for a cloud of ``numbered_cloud``.

The answers have the form of Nova's and are computed from the numbers. So they
cost less than Nova's, and the engine's work with them is the same. ``POST
/built`` with a list of members says that their servers were built now.
"""

from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import itertools
import json
import sys
from urllib.parse import parse_qsl, urlsplit

from benchmarks import numbered_cloud as numbered

PAGE = 1000


class Nova:
    """What Nova says, by the path of the request."""

    def __init__(self, sizes):
        self._sizes = sizes
        self._built = {}

    def answer(self, path, query):
        """The body, or None for what does not exist."""
        first, _, name = path.strip('/').partition('/')
        if first == 'os-services':
            return {'services': [
                {'host': numbered.host_name(host), **_service(host)}
                for host in range(self._sizes.hosts)]}
        if first == 'os-hypervisors':
            return self._hypervisors(name, query)
        if first == 'os-aggregates':
            return {'aggregates': list(self._aggregates())}
        if first == 'flavors':
            return {'flavors': [] if 'marker' in query else [FLAVOR]}
        if first == 'servers':
            return self._servers(name, query)
        return {}

    def build(self, members):
        now = datetime.now(timezone.utc).replace(tzinfo=None)
        self._built.update(dict.fromkeys(members, now))

    def _hypervisors(self, name, query):
        if name != 'detail':
            return {'hypervisor': _hypervisor(numbered.number_of(name))}
        start = (numbered.number_of(query['marker']) + 1
                 if 'marker' in query else 0)
        limit = int(query.get('limit', PAGE))
        return {'hypervisors': [_hypervisor(host) for host in range(
            start, min(start + limit, self._sizes.hosts))]}

    def _aggregates(self):
        racks = -(-self._sizes.hosts // numbered.HOSTS_PER_RACK)
        for rack in range(racks):
            first = rack * numbered.HOSTS_PER_RACK
            hosts = range(first, min(first + numbered.HOSTS_PER_RACK,
                                     self._sizes.hosts))
            yield {'name': numbered.rack_name(first),
                   'uuid': numbered.rack_uuid(rack),
                   'hosts': [numbered.host_name(host) for host in hosts],
                   'metadata': {
                       'rack': numbered.rack_name(first),
                       'availability_zone': f'az{rack * 3 // racks + 1}'}}

    def _servers(self, name, query):
        if name != 'detail':
            member = numbered.number_of(name)
            if member in self._built or self._sizes.has_server(member):
                return {'server': self._server(member)}
            return None
        listed = self._listed(query)
        if 'marker' in query:
            marker = numbered.number_of(query['marker'])
            listed = itertools.islice(itertools.dropwhile(
                lambda member: member != marker, listed), 1, None)
        return {'servers': [self._server(member) for member
                            in itertools.islice(listed, PAGE)]}

    def _listed(self, query):
        if 'changes-since' in query:
            since = datetime.strptime(
                query['changes-since'], '%Y-%m-%dT%H:%M:%SZ')
            return iter([member for member, at in [*self._built.items()]
                         if at >= since])
        project = query.get('project_id')
        built = [member for member in self._built if numbered.project_of(
            self._sizes.group_of(member)) == project]
        return itertools.chain(built, self._sizes.servers(project))

    def _server(self, member):
        host = numbered.host_name(self._sizes.host_of(member))
        return {
            'id': numbered.server_uuid(member), 'status': 'ACTIVE',
            'tenant_id': numbered.project_of(self._sizes.group_of(member)),
            'OS-EXT-SRV-ATTR:host': host,
            'OS-EXT-SRV-ATTR:hypervisor_hostname': host,
            'OS-SRV-USG:launched_at': '2026-01-01T00:00:00.000000',
            'OS-EXT-STS:task_state': None,
            'flavor': {'id': numbered.FLAVOR}}


FLAVOR = {'name': numbered.FLAVOR, 'id': numbered.FLAVOR, 'vcpus': 2,
          'ram': 4096, 'disk': 20, 'swap': 0, 'OS-FLV-EXT-DATA:ephemeral': 0,
          'extra_specs': {}}


def _service(host):
    return {'id': numbered.service_uuid(host), 'state': 'up',
            'status': 'enabled'}


def _hypervisor(host):
    name = numbered.host_name(host)
    return {'id': numbered.provider_uuid(host), 'hypervisor_hostname': name,
            'state': 'up', 'status': 'enabled', 'hypervisor_type': 'QEMU',
            'hypervisor_version': 7002000,
            'service': {**_service(host), 'host': name}}


class Handler(BaseHTTPRequestHandler):
    """:cvar nova: Nova"""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        parts = urlsplit(self.path)
        document = self.nova.answer(parts.path, dict(parse_qsl(parts.query)))
        self._send(200 if document is not None else 404, document or {})

    def do_POST(self):
        length = int(self.headers['Content-Length'])
        self.nova.build(json.loads(self.rfile.read(length)))
        self._send(202, {})

    def _send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Write no log."""


def main(port, *sizes):
    Handler.nova = Nova(numbered.Sizes(*map(int, sizes)))
    ThreadingHTTPServer(('127.0.0.1', int(port)), Handler).serve_forever()


if __name__ == '__main__':
    main(*sys.argv[1:])
