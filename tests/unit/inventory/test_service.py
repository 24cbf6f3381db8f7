# SPDX-License-Identifier: Apache-2.0
"""A service that fails is named, with what was asked of it."""

from http.server import BaseHTTPRequestHandler, HTTPServer
import threading

from keystoneauth1.adapter import Adapter
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session
import pytest

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.service import Service


def service_at(url):
    return Service('placement', Adapter(
        Session(NoAuth(endpoint=url)), service_type='placement'))


@pytest.fixture
def serve():
    """A function that starts an HTTP server giving one answer always."""
    servers = []

    def serve(status, body):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass
        server = HTTPServer(('127.0.0.1', 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,),
                         daemon=True).start()
        return service_at(f'http://127.0.0.1:{server.server_port}')
    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def failure(action):
    with pytest.raises(ServiceFailed) as error:
        action()
    text = str(error.value)
    assert 'placement: GET /things' in text
    assert '\n' not in text
    return text


def test_a_json_answer_is_returned(serve):
    assert serve(200, b'{"things": [1]}').get('/things', '1.38') == {
        'things': [1]}


def test_an_unreachable_service_raises_service_failed():
    # Nothing listens on the discard port of a test machine.
    failure(lambda: service_at('http://127.0.0.1:9').get('/things', '1.38'))


@pytest.mark.parametrize('status', [401, 403, 404, 500, 503])
def test_an_error_answer_is_reported_with_its_status(serve, status):
    service = serve(status, b'{"why":\n "because"}')
    text = failure(lambda: service.get('/things', '1.38'))
    assert str(status) in text


def test_a_404_can_be_accepted_as_none(serve):
    assert serve(404, b'').get('/things', '1.38', missing_ok=True) is None


def test_an_html_answer_is_refused(serve):
    service = serve(200, b'<html>log in</html>')
    assert 'not JSON' in failure(lambda: service.get('/things', '1.38'))


@pytest.mark.parametrize('body', [
    b'{}', b'[]', b'null', b'{"things": 7}', b'{"things": [{"name": "x"}]}'])
def test_a_list_of_a_wrong_shape_is_refused(serve, body):
    service = serve(200, body)
    assert 'unexpected answer' in failure(
        lambda: list(service.pages('/things', 'things', '1.38')))


def test_a_service_that_ignores_the_marker_is_refused(serve):
    service = serve(200, b'{"things": [{"id": "one"}]}')
    assert 'the same page again' in failure(
        lambda: list(service.pages('/things', 'things', '1.38')))
