# SPDX-License-Identifier: Apache-2.0
"""Clouds in memory behind HTTP, several in one process.

Each cloud has its own path: ``/c7/v1/plans``. The process prints the
port on which it listens.
"""

from dataclasses import replace
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import sys
from urllib.parse import parse_qs, urlsplit

from benchmarks.simulated_cloud import SimulatedCloud
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.policies import load_policy_types
from nova_holistic.table.records import EXTRAS

TRAIT = 'CUSTOM_HIPAA'
"""A trait of the hosts in every fifth cloud."""
VCPUS, MEMORY_MB = 64, 262_144


def snapshot(number, hosts, full):
    """The snapshot of a cloud.

    :param number: of the cloud: every fifth one has the trait, and every
        second one has large servers already
    :param full: share of the VCPUs in use
    """
    traits = frozenset({TRAIT} if number % 5 == 0 else ())
    return Snapshot(('rack', 'host'), tuple(
        _host(i, f'r{i % max(8, hosts // 40)}', traits,
              _used(i, number, full)) for i in range(hosts)))


def _used(index, number, full):
    """VCPUs in use on a host: on average the share, and evenly or not."""
    if number % 2:
        return int(VCPUS * full)
    return min(VCPUS, int(2 * VCPUS * full * ((index * 7919) % 101) / 100))


def _host(index, rack, traits, used):
    return Host(
        f'h{index}', f'h{index}', '', (rack,), FrozenMapping({
            'VCPU': Inventory(total=VCPUS, used=used),
            'MEMORY_MB': Inventory(total=MEMORY_MB,
                                   used=used * MEMORY_MB // VCPUS)}),
        traits=traits)


def clouds(first, number, hosts, full):
    """Path to a cloud; equal clouds share a snapshot until they change."""
    types, snapshots, simulated = load_policy_types(), {}, {}
    for n in range(first, first + number):
        if n % 10 not in snapshots:
            snapshots[n % 10] = snapshot(n, hosts, full)
        simulated[f'c{n}'] = SimulatedCloud(
            replace(snapshots[n % 10]), types, _now)
    return simulated


def _now():
    return datetime.now(timezone.utc).replace(tzinfo=None)


class Handler(BaseHTTPRequestHandler):
    """The part of the API that a parent uses."""

    protocol_version = 'HTTP/1.1'
    served: dict[str, SimulatedCloud] = {}

    def do_GET(self):
        cloud, steps, query = self._parsed()
        if steps == ['statistics']:
            self._answer(200, {'plans': cloud.plans,
                               'seconds': cloud.seconds})
        elif len(steps) == 2:
            self._answer(200, {'groups': cloud.find(query['name'][0])})
        elif steps[-1] == 'placements':
            self._answer(200, {'placements': cloud.placements(steps[2])})
        else:
            self._group(200, cloud.show(steps[2]))

    def do_POST(self):
        cloud, steps, _ = self._parsed()
        body = json.loads(self.rfile.read(
            int(self.headers['Content-Length'])))
        if steps[1] == 'plans':
            self._answer(201, {'plan': cloud.plan(
                body['group'], body.get('objective'),
                [name for name in EXTRAS if body.get(name)])})
        elif steps[-1] == 'extend':
            self._group(200, cloud.extend(
                steps[2], body['extend']['seconds']))
        else:
            self._answer(201, {'group': cloud.create(
                body['group'], body.get('objective'), body['lease'],
                self.headers['Idempotency-Key'])})

    def do_DELETE(self):
        cloud, steps, _ = self._parsed()
        cloud.delete(steps[2])
        self._answer(204, None)

    def log_message(self, *args):
        """Nothing is printed."""

    def _parsed(self):
        url = urlsplit(self.path)
        name, *steps = url.path.strip('/').split('/')
        return self.served[name], steps, parse_qs(url.query)

    def _group(self, status, group):
        if group is None:
            self._answer(404, {'errors': [{'detail': 'no such group'}]})
        else:
            self._answer(status, {'group': group})

    def _answer(self, status, document):
        body = b'' if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(first, number, hosts, full):
    Handler.served = clouds(int(first), int(number), int(hosts), float(full))
    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == '__main__':
    main(*sys.argv[1:])
