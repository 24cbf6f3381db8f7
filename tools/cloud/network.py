# SPDX-License-Identifier: Apache-2.0
"""The requests of the network API that Nova sends for servers without a
network. Every list is empty, and nothing can be created."""

import json

from tools.cloud.service import WebService


class Network(WebService):
    name = 'network'
    application = 'tools.cloud.network'
    threads = 4


def application(environ, start_response):
    """WSGI application for ``GET /v2.0/ports`` and similar requests."""
    parts = environ['PATH_INFO'].strip('/').split('/')
    environ['wsgi.input'].read(int(environ.get('CONTENT_LENGTH') or 0))
    if parts[0] in ('', 'v2.0') and len(parts) == 1:
        status, body = '200 OK', {'versions': [{
            'id': 'v2.0', 'status': 'CURRENT', 'links': [
                {'rel': 'self', 'href': f'http://{environ["HTTP_HOST"]}'
                                        '/v2.0/'}]}]}
    elif len(parts) == 2 and environ['REQUEST_METHOD'] == 'GET':
        collection = parts[1].removesuffix('.json').replace('-', '_')
        status, body = '200 OK', {collection: []}
    else:
        status, body = '404 Not Found', {'NeutronError': {
            'type': 'NotFound', 'message': 'there are no networks',
            'detail': ''}}
    answer = json.dumps(body).encode()
    start_response(status, [('Content-Type', 'application/json'),
                            ('Content-Length', str(len(answer)))])
    return [answer]
