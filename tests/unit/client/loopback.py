# SPDX-License-Identifier: Apache-2.0
"""WSGI applications on a port of this machine, by the beginnings of paths."""

import socketserver
import threading
from wsgiref import simple_server, util


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True

    def server_bind(self):
        """Without asking who this machine is: that can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]
        self.setup_environ()


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *words):
        """What is asked for is nobody's business."""


class Loopback:
    """Serves until it is left.

    :ivar url: where, without a slash at its end
    """

    def __init__(self, apps):
        """:param apps: ``{'/identity': app, ...}``"""
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
        # That one leaves out a path's last slash and what is quoted.
        return self._apps[name](environ, start_response)
