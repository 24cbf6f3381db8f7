# SPDX-License-Identifier: Apache-2.0
"""The error of a failed request names the service and the request."""

from http.server import BaseHTTPRequestHandler, HTTPServer
import threading
from urllib import parse

from keystoneauth1.adapter import Adapter
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session
import pytest

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.service_client import ServiceClient


def service_at(url, **options):
    return ServiceClient('placement', Adapter(
        Session(NoAuth(endpoint=url), **options), service_type='placement'))


@pytest.fixture
def serve():
    """A function that starts an HTTP server with one fixed response."""
    servers = []

    def serve(status, body):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                self.rfile.read(int(self.headers['Content-Length']))
                self.do_GET()

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
    # No server listens on the discard port of a test machine.
    failure(lambda: service_at('http://127.0.0.1:9').get('/things', '1.38'))


def test_certificates_that_were_removed_raise_service_failed():
    """requests then raises an OSError, which keystoneauth does not convert."""
    text = failure(lambda: service_at(
        'https://127.0.0.1:9', verify='/nonexistent/ca.pem').get(
            '/things', '1.38'))
    assert '/nonexistent/ca.pem' in text


@pytest.mark.parametrize('status', [401, 403, 404, 500, 503])
def test_an_error_answer_is_reported_with_its_status(serve, status):
    service = serve(status, b'{"why":\n "because"}')
    text = failure(lambda: service.get('/things', '1.38'))
    assert str(status) in text


def test_a_refused_post_is_reported_as_a_post(serve):
    service = serve(409, b'busy')
    with pytest.raises(ServiceFailed, match='placement: POST /things: '
                       'HTTP 409: busy'):
        service.post('/things', {}, '1.38')


def test_an_unreachable_service_is_reported_with_the_method():
    with pytest.raises(ServiceFailed, match='placement: POST /things: '):
        service_at('http://127.0.0.1:9').post('/things', {}, '1.38')


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


class Paged:
    """An adapter to a service with 5 objects in pages of at most 2.

    :ivar paths: paths of the requests
    """

    status_code = 200

    def __init__(self):
        self.paths = []

    def get(self, path, **options):
        self.paths.append(path)
        query = dict(parse.parse_qsl(path.partition('?')[2]))
        first = int(query.get('marker', 0))
        items = [{'id': str(number + 1)} for number in range(5)][
            first:first + min(2, int(query['limit']))]
        self._body = {'things': items}
        if len(items) == 2:
            self._body['things_links'] = [{'rel': 'next', 'href': '...'}]
        return self

    def json(self):
        return self._body


@pytest.mark.parametrize('linked, requests', [(True, 3), (False, 4)])
def test_pages_end_without_a_link_or_with_an_empty_page(linked, requests):
    adapter = Paged()
    found = list(ServiceClient('placement', adapter).pages(
        '/things', 'things', '1.38', linked=linked))
    assert [each['id'] for each in found] == ['1', '2', '3', '4', '5']
    assert len(adapter.paths) == requests


def test_pages_begin_behind_a_marker():
    adapter = Paged()
    found = list(ServiceClient('placement', adapter).pages(
        '/things', 'things', '1.38', marker='3', limit='1'))
    assert [each['id'] for each in found] == ['4', '5']
    assert all('limit=1' in path for path in adapter.paths)
