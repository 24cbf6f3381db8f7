# SPDX-License-Identifier: Apache-2.0
"""The API of a Nova that runs in this process, for other processes."""

import webob

from tools.federation.identity import context_of

PREFIX = '/compute'
_VERSIONS = ('OpenStack-API-Version', 'X-OpenStack-Nova-API-Version')


class Nova:
    """Forwards each request below ``/compute`` with the user and the project
    of its token."""

    def __init__(self, cloud):
        self._cloud = cloud

    def __call__(self, environ, start_response):
        request, context = webob.Request(environ), context_of(environ)
        if context.user_id is None:
            return webob.Response(status=401)(environ, start_response)
        found = self._cloud.compute_for(
            context.project_id, context.user_id).request(
                request.path_qs.removeprefix(PREFIX), request.method,
                headers={name: request.headers[name] for name in _VERSIONS
                         if name in request.headers},
                json=request.json if request.body else None, raise_exc=False)
        return webob.Response(
            status=found.status_code, body=found.content,
            content_type='application/json')(environ, start_response)
