# SPDX-License-Identifier: Apache-2.0
"""HTTP servers on loopback in threads of the test."""

import contextlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import socketserver
import threading
import time
from wsgiref import simple_server

from keystoneauth1 import adapter, noauth, session

from nova_holistic.federation.http.exchange import Exchange
from nova_holistic.federation.http.traffic import HttpLimits, Traffic
from nova_holistic.federation.http_child import HttpChild
from tests.unit.federation.clouds import NOON


class _Threading(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True


class _Quiet(simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        """Do not print requests."""


@contextlib.contextmanager
def serving(app, headers=None):
    """Yield the URL of a server of a WSGI application.

    :param headers: headers that keystonemiddleware would add
    """
    def checked(environ, start_response):
        for name, value in (headers or {}).items():
            environ['HTTP_' + name.upper().replace('-', '_')] = value
        return app(environ, start_response)

    server = simple_server.make_server(
        '127.0.0.1', 0, checked, _Threading, _Quiet)
    with _running(server) as url:
        yield url


@contextlib.contextmanager
def answering(respond, keep=False):
    """Yield the URL of a server with the responses of a function.

    :param respond: called with the handler of a request
    :param keep: whether connections are kept open after a response
    """
    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self):
            length = int(self.headers.get('Content-Length', 0))
            self.body = self.rfile.read(length)
            with contextlib.suppress(OSError):
                respond(self)
            if not keep:
                self.close_connection = True

        def end_headers(self):
            if not keep:
                # Without this header, a client would reuse a connection that
                # the server has closed, and lose its next request.
                self.send_header('Connection', 'close')
            super().end_headers()

        do_POST = do_PUT = do_DELETE = do_GET

        def log_message(self, *args):
            """Do not print requests."""

    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    with _running(server) as url:
        yield url


@contextlib.contextmanager
def _running(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f'http://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def exchange(url, identity='ann@blue', traffic=None, **limits):
    """Return the client that sends requests to a child at a URL."""
    traffic = traffic or Traffic(
        HttpLimits(**{'seconds': 5.0, 'per_second': 1000.0, **limits}),
        time.monotonic, time.sleep)
    one = session.Session(noauth.NoAuth())
    return Exchange('dfw', adapter.Adapter(
        one, endpoint_override=url), traffic, identity)


def http_child(url, identity='ann@blue', traffic=None, **limits):
    """Return a child at a URL."""
    return HttpChild('dfw', exchange(url, identity, traffic, **limits),
                     lambda: NOON)
