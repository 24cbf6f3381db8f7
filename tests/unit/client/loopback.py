# SPDX-License-Identifier: Apache-2.0
"""WSGI applications on a loopback port, by the prefixes of their paths."""

import socketserver
import threading
from wsgiref import simple_server, util


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True

    def server_bind(self):
        """Do not look up the name of this machine, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]
        self.setup_environ()


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *words):
        """Do not log requests."""


class Loopback:
    """A server that runs within the context.

    :ivar url: its URL without a slash at the end
    """

    def __init__(self, apps):
        """:param apps: applications by prefix: ``{'/identity': app, ...}``"""
        self._apps = dict(apps)
        self._server = _Server(('127.0.0.1', 0), _Handler)
        self._server.set_app(self._dispatch)
        self.url = f'http://127.0.0.1:{self._server.server_port}'

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever,
                         kwargs={'poll_interval': 0.05}, daemon=True).start()
        return self

    def __exit__(self, *failure):
        self._server.shutdown()
        self._server.server_close()

    def _dispatch(self, environ, start_response):
        name = '/' + environ['PATH_INFO'].split('/')[1]
        util.shift_path_info(environ)
        # The function of the standard library removes the last slash and
        # decodes quoted characters.
        return self._apps[name](environ, start_response)
