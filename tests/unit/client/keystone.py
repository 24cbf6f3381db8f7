# SPDX-License-Identifier: Apache-2.0
"""The parts of Keystone that a client needs: tokens for passwords, and a
catalog with the URLs of services."""

import json

import webob

PASSWORD = 'secret'


class Keystone:
    """Users by name, each in one project. The token of a user is the user's
    name.

    :ivar catalog: URLs by type of service
    """

    def __init__(self, users):
        """:param users: Tokens, as in the tests of the API"""
        self._users = {token.user: token for token in users}
        self.catalog = {}

    def __call__(self, environ, start_response):
        request = webob.Request(environ)
        if request.method == 'POST':
            response = self._issue(request)
        else:
            response = webob.Response(
                json_body={'version': self._version(request)})
        return response(environ, start_response)

    def identified(self, app):
        """The application behind a filter that validates tokens."""
        def found_out(environ, start_response):
            user = self._users.get(environ.get('HTTP_X_AUTH_TOKEN'))
            request = webob.Request(environ)
            for name, value in (user.headers() if user else {}).items():
                request.headers[name] = value
            return app(environ, start_response)
        return found_out

    def _version(self, request):
        return {'id': 'v3.14', 'status': 'stable', 'links': [
            {'rel': 'self', 'href': f'{request.host_url}/identity/v3/'}]}

    def _issue(self, request):
        password = request.json['auth']['identity']['password']['user']
        user = self._users.get(password['name'])
        if user is None or password['password'] != PASSWORD:
            return webob.Response(status=401, json_body={'error': {
                'code': 401, 'message': 'no such user and password'}})
        token = {
            'methods': ['password'], 'issued_at': '2030-01-01T12:00:00.0Z',
            'expires_at': '2130-01-01T12:00:00.0Z',
            'user': {'id': user.user, 'name': user.user, 'domain': DOMAIN},
            'project': {'id': user.project, 'name': user.project,
                        'domain': DOMAIN},
            'roles': [{'id': role, 'name': role} for role in user.roles],
            'catalog': [_entry(*each) for each in self.catalog.items()]}
        return webob.Response(
            status=201, body=json.dumps({'token': token}).encode(),
            content_type='application/json',
            headers={'X-Subject-Token': user.user})


DOMAIN = {'id': 'default', 'name': 'Default'}


def _entry(kind, url):
    return {'type': kind, 'name': kind, 'id': kind, 'endpoints': [
        {'id': f'{kind}-{interface}', 'interface': interface, 'url': url,
         'region': 'here', 'region_id': 'here'}
        for interface in ('public', 'internal', 'admin')]}
