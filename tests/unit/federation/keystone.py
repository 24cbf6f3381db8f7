# SPDX-License-Identifier: Apache-2.0
"""The parts of a child's Keystone that an application credential needs."""

import webob

ID, SECRET, TOKEN = '423f19a4ac1e4f48bbb4180756e6eb6c', 'rEaqvJka48mpv', 'tok'
DOMAIN = {'id': 'default', 'name': 'Default'}


class ChildKeystone:
    """A Keystone with one application credential.

    :ivar catalog: URL of the API
    :ivar is_failing: whether every request fails
    """

    def __init__(self):
        self.catalog = None
        self.is_failing = False

    def __call__(self, environ, start_response):
        request = webob.Request(environ)
        return self._answer(request)(environ, start_response)

    def _answer(self, request):
        if self.is_failing:
            return webob.Response(status=503)
        if request.method == 'GET':
            return webob.Response(json_body={'version': {
                'id': 'v3.14', 'status': 'stable', 'links': [{
                    'rel': 'self', 'href': f'{request.host_url}/v3/'}]}})
        sent = request.json['auth']['identity']['application_credential']
        if sent != {'id': ID, 'secret': SECRET}:
            return webob.Response(status=401, json_body={'error': {
                'code': 401, 'message': 'no such credential'}})
        return webob.Response(
            status=201, headers={'X-Subject-Token': TOKEN}, json_body={
                'token': {
                    'methods': ['application_credential'],
                    'issued_at': '2030-01-01T12:00:00.0Z',
                    'expires_at': '2130-01-01T12:00:00.0Z',
                    'user': {'id': 'u1', 'name': 'ann', 'domain': DOMAIN},
                    'project': {'id': 'p1', 'name': 'blue',
                                'domain': DOMAIN},
                    'roles': [{'id': 'member', 'name': 'member'}],
                    'catalog': [{
                        'type': 'holistic', 'name': 'holistic', 'id': 'h',
                        'endpoints': [{
                            'id': 'e', 'interface': 'public',
                            'region': 'ams', 'region_id': 'ams',
                            'url': self.catalog}]}]}})
