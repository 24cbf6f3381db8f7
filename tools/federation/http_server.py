# SPDX-License-Identifier: Apache-2.0
"""A WSGI application on a port of this machine."""

import json
import os
import select
import socketserver
import sys
import threading
from wsgiref import simple_server


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        """Bind without a lookup of the machine's name, which can take seconds.
        """
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]
        self.setup_environ()


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *words):
        """Do not log requests."""


def serve(application, port):
    """Serve until standard input ends.

    The first line of standard output is a JSON object with the URL.

    :param application: WSGI application
    :param port: port to listen on; 0 lets the system choose
    """
    server = _Server(('127.0.0.1', port), _Handler)
    server.set_app(application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({'url': f'http://127.0.0.1:{server.server_port}'}),
          flush=True)
    # A blocking read would stop the green threads of a process that uses them.
    while not (select.select([sys.stdin], [], [], 1)[0]
               and not os.read(sys.stdin.fileno(), 1)):
        pass
