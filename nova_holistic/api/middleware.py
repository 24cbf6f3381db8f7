# SPDX-License-Identifier: Apache-2.0
"""The WSGI middleware between the server and the application.

From the outside in: a proxy's headers, the request id, the health check,
keystone's tokens. The length of bodies is limited where they are read, so that
the response has the same format as all others.
"""

from collections.abc import Callable
import json
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
from keystonemiddleware import auth_token
from oslo_log import log as logging
from oslo_middleware import healthcheck, http_proxy_to_wsgi, request_id
import webob

from nova_holistic.api import errors
from nova_holistic.api.requests import microversions
from nova_holistic.api.routes import ROUTES

LOG = logging.getLogger(__name__)

HEALTHCHECK = '/healthcheck'
PUBLIC_PATHS = frozenset(
    route.path for route in ROUTES if route.rule is None)

Wsgi = Callable[[dict[str, Any], Any], Any]


def with_middleware(conf, app: Wsgi) -> Wsgi:
    """The application together with its middleware."""
    tokens = auth_token.AuthProtocol(app, {'oslo_config_config': conf})
    check = healthcheck.Healthcheck(None, conf)
    inner = request_id.RequestId(
        _ByPath(app, tokens, check, conf.holistic_api.retry_after))
    return http_proxy_to_wsgi.HTTPProxyToWSGI(inner, conf)


class _ByPath:
    """Public paths need no token; any other path needs a valid one.

    :param retry_after: seconds after which a client may retry if keystone is
        unavailable
    """

    def __init__(self, app: Wsgi, tokens: Wsgi, check: Wsgi,
                 retry_after: float):
        self._app = app
        self._tokens = tokens
        self._check = check
        self._retry_after = retry_after

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        path = environ.get('PATH_INFO', '').rstrip('/')
        if path == HEALTHCHECK:
            return self._check(environ, start_response)
        if (path or '/') in PUBLIC_PATHS:
            _forget_identity(environ)
            # The URLs of the version documents end in a slash.
            environ['PATH_INFO'] = path or '/'
            return self._app(environ, start_response)
        request = webob.Request(environ)
        try:
            response = request.get_response(self._tokens)
        except ks_exceptions.ClientException as error:
            # keystonemiddleware does not convert the error of an endpoint of
            # keystone that is neither configured nor in the catalog.
            LOG.error('Tokens cannot be validated; check '
                      '[keystone_authtoken]: %s', error)
            response = webob.Response(status=503)
        if microversions.HEADER not in response.headers:
            self._in_our_form(request, response)
        return response(environ, start_response)

    def _in_our_form(self, request: webob.Request,
                     response: webob.Response) -> None:
        """Convert a response of keystonemiddleware: an invalid token, or
        keystone is unavailable."""
        error = (errors.ApiError(401, 'unauthorized', 'a valid token is '
                                 'needed: X-Auth-Token')
                 if response.status_int == 401 else errors.with_retry_after(
                     errors.ApiError(
                         503, 'keystone_unavailable',
                         'keystone is unavailable; try again later'),
                     self._retry_after))
        response.status_int = error.status
        response.content_type = 'application/json'
        response.charset = None
        response.body = json.dumps(errors.document(
            error, request.environ['openstack.request_id'])).encode()
        response.headers.update({
            **error.headers, **microversions.response_headers(request)})


def _forget_identity(environ: dict[str, Any]) -> None:
    """Remove headers with identity data from the client on paths that bypass
    keystonemiddleware.
    """
    environ.pop('HTTP_X_IDENTITY_STATUS', None)
