# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy in front of a child, which loses requests and responses."""

import contextlib
import enum
import socket
import socketserver
import threading
from urllib.parse import urlsplit


class Fault(enum.Enum):
    """The fault of one request."""

    REQUEST_LOST = 'the child does not get it'
    ANSWER_LOST = 'the child carries it out, and its answer is dropped'
    ANSWER_CUT = 'the connection ends in the middle of the answer'


class Proxy:
    """Each connection carries one request. The proxy adds a header that closes
    the connection after the response.

    :ivar url: URL of the proxy
    :ivar keys: idempotency keys of the requests that arrived
    :ivar fault: called with method and path of each request; returns a Fault
        or None
    :ivar breaks: called when a fault breaks a connection: after the child has
        answered, or instead of sending it the request
    """

    def __init__(self, url):
        self.keys = []
        self.fault = lambda method, path: None
        self.breaks = lambda: None
        self._lock = threading.Lock()
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with contextlib.suppress(OSError):
                    proxy._pass(self.request)

        self._target = urlsplit(url).hostname, urlsplit(url).port
        self._server = socketserver.ThreadingTCPServer(
            ('127.0.0.1', 0), Handler)
        self._server.daemon_threads = True
        self.url = f'http://127.0.0.1:{self._server.server_address[1]}'
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _pass(self, client):
        request = _request(client)
        method, path = request.decode('latin-1').split(' ', 2)[:2]
        with self._lock:
            self.keys.extend(_keys(request))
            fault = self.fault(method, path)
        if fault is Fault.REQUEST_LOST:
            self.breaks()
            return
        with socket.create_connection(self._target) as child:
            child.sendall(request)
            answer = b''.join(iter(lambda: child.recv(65536), b''))
        if fault is None:
            client.sendall(answer)
            return
        self.breaks()
        if fault is Fault.ANSWER_CUT:
            client.sendall(answer[:len(answer) // 2])


def urls(proxies):
    """The URLs of the proxies by the names of their children."""
    return {name: each.url for name, each in proxies.items()}


def _keys(request):
    return [line.partition(b':')[2].strip().decode()
            for line in request.partition(b'\r\n\r\n')[0].split(b'\r\n')
            if line.lower().startswith(b'idempotency-key:')]


def _request(client):
    """The bytes of one request, with a header that ends the connection."""
    data = b''
    while b'\r\n\r\n' not in data:
        data += _received(client)
    head, _, body = data.partition(b'\r\n\r\n')
    lines = [line for line in head.split(b'\r\n')
             if not line.lower().startswith(b'connection:')]
    length = next((int(line.split(b':')[1]) for line in lines
                   if line.lower().startswith(b'content-length:')), 0)
    while len(body) < length:
        body += _received(client)
    return b'\r\n'.join([*lines, b'Connection: close', b'', body])


def _received(client):
    found = client.recv(65536)
    if not found:
        raise ConnectionResetError('the client has closed the connection')
    return found
