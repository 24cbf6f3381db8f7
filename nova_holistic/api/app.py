# SPDX-License-Identifier: Apache-2.0
"""The API as a WSGI application."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
import functools
import threading
import time
from typing import Any

from oslo_log import log as logging
import webob

from nova_holistic.api.call import (
    answer, Call, Engines, ParentEngines, Service)
from nova_holistic.api.checks.definition_rights import DefinitionRights
from nova_holistic.api.checks.federation import must_offer, read_parents
from nova_holistic.api.checks import limits
from nova_holistic.api.checks.nova_quota import NovaQuota
from nova_holistic.api import context as contexts, errors
from nova_holistic.api.context import RequestContext
from nova_holistic.api.description import openapi
from nova_holistic.api.pending_groups import PendingGroups
from nova_holistic.api.policy_enforcer import PolicyEnforcer
from nova_holistic.api.requests import (
    entity_tags, microversions, request_body, request_query)
from nova_holistic.api.route import Route, Router, RouteValidators
from nova_holistic.api.routes import ROUTES
from nova_holistic.api.url_mapping import UrlMapping
from nova_holistic.boot.rights import Rights
from nova_holistic.documents.validation import brief
from nova_holistic import exceptions
from nova_holistic.federation.credentials.registrations import Registrations
from nova_holistic.metrics import exporter, instruments
from nova_holistic import policies
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

DENIALS = (403, 404)
"""Statuses of responses that are logged with the user who received them."""

ROUTE = 'nova_holistic.route'
"""Key of the environment with the route of the request."""

ContextOf = Callable[[dict[str, Any]], RequestContext]


@dataclass(frozen=True, slots=True)
class AppParts:
    """The parts of the API that differ between deployments.

    :ivar places: the URLs of the paths of the table of routes
    :ivar context_of: returns the context of a request from the WSGI
        environment
    :ivar quota: None if Nova's quota is not checked
    :ivar user_rights: None if engines create no servers
    :ivar federation: the engines, if the service is a parent
    :ivar credentials: see ``Service``
    :ivar timer: returns seconds since an arbitrary time
    :ivar sleep: waits for a number of seconds
    """

    places: UrlMapping = UrlMapping()
    context_of: ContextOf = contexts.from_environ
    quota: NovaQuota | None = None
    user_rights: Rights | None = None
    federation: ParentEngines | None = None
    credentials: Registrations | None = None
    timer: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def make_app(conf, table: PlacementTable, engines: Engines,
             clock: Callable[[], datetime],
             parts: AppParts = AppParts()) -> 'Application':
    """The API without the check of tokens, which runs before it.

    :param conf: with the project's and oslo.policy's options registered
    :param clock: returns naive UTC
    """
    types = policies.load_policy_types()
    policy_enforcer = PolicyEnforcer(conf)
    return Application(Service(
        conf=conf, table=table, engines=engines,
        policy_enforcer=policy_enforcer,
        limits=limits.from_conf(conf, table),
        # The children of a parent check locations in their own topologies.
        rights=DefinitionRights.from_conf(conf, policy_enforcer)
        if parts.federation is None
        else DefinitionRights(policy_enforcer, None),
        policy_types=types,
        places=parts.places, description=functools.cache(
            lambda: openapi.describe(ROUTES, types, parts.places)),
        clock=clock, timer=parts.timer, sleep=parts.sleep,
        waiters=threading.Semaphore(conf.holistic_api.max_waiters),
        is_pending=PendingGroups(table.tasks.pending, parts.timer),
        quota=parts.quota, user_rights=parts.user_rights,
        federation=parts.federation, credentials=parts.credentials),
        parts.context_of)


class Application:
    """Every response is JSON and states its version and request id; a route is
    only reached through its policy and its schemas."""

    def __init__(self, service: Service, context_of: ContextOf):
        self._service = service
        self._context_of = context_of
        self._router = Router(ROUTES, service.places)
        self._checks = RouteValidators(ROUTES)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        context = self._context_of(environ)
        request = webob.Request(environ)
        exporter.start(self._service.conf)
        begin = self._service.timer()
        try:
            response = self._respond(request, context)
        except Exception as error:
            response = self._refusal(error, request, context)
        _measure(environ, response.status_int, self._service.timer() - begin)
        response.headers.update({
            **microversions.response_headers(request),
            'X-Openstack-Request-Id': context.request_id})
        return response(environ, start_response)

    def _respond(self, request: webob.Request,
                 context: RequestContext) -> webob.Response:
        route, names = self._router.find(request.method, _path(request))
        request.environ[ROUTE] = route
        if route.rule is not None:
            self._service.policy_enforcer.must(context, route.rule)
        microversions.must_have(request, route.since)
        if not request.accept.acceptable_offers(request_body.OFFERS):
            raise errors.ApiError(
                406, 'not_acceptable', 'the only media type is '
                                       f'{request_body.MEDIA_TYPE}')
        must_offer(self._service, route.operation)
        read_parents(self._service, request, context)
        response = route.handler(self._call(route, names, request, context))
        if route.method == 'GET':
            response = entity_tags.conditional(request, response)
        else:
            LOG.info('%s %s: %s %s, for user %s of project %s, request %s',
                     route.method, brief(request.path), response.status_int,
                     response.headers.get('Location', '-'), context.user_id,
                     context.project_id, context.request_id)
        return response

    def _call(self, route: Route, names: dict[str, str],
              request: webob.Request, context: RequestContext) -> Call:
        conf = self._service.conf.holistic_api
        try:
            query = request_query.read(_query(request), route.query,
                                       self._checks.query(route))
        except exceptions.InvalidDocument as error:
            raise errors.invalid_query(error) from error
        body = None
        if route.body is not None:
            body = request_body.read(
                request, conf.max_request_body, conf.max_depth)
            try:
                self._checks.body(route)(body)
            except exceptions.InvalidDocument as error:
                raise error.inside('body') from None
        return Call(self._service, request, context, route.rule, names,
                    query, body)

    def _refusal(self, exception: Exception, request: webob.Request,
                 context: RequestContext) -> webob.Response:
        error = errors.from_exception(
            exception, self._service.conf.holistic_api.retry_after)
        if error is None:
            LOG.exception('Request %s for user %s of project %s failed with '
                          'an internal error',
                          context.request_id, context.user_id,
                          context.project_id)
            error = errors.ApiError(
                500, 'fault', 'internal error; the operator finds the cause '
                'in the log by the request id')
        elif error.status >= 500:
            LOG.error('Request %s for user %s of project %s: %s',
                      context.request_id, context.user_id,
                      context.project_id, error)
        elif error.status in DENIALS:
            # The log contains only the path of the request, no other data from
            # it.
            LOG.info('%s %s: denied with %s %s by rule %s, for user %s of '
                     'project %s, request %s',
                     request.method, brief(_shown_path(request)), error.status,
                     error.code, error.rule, context.user_id,
                     context.project_id, context.request_id)
        return answer(error.status, errors.document(error, context.request_id),
                      error.headers)


def _measure(environ: dict[str, Any], status: int, seconds: float) -> None:
    """Count a request by its route: clients may invent paths and methods."""
    route = environ.get(ROUTE)
    labels = {'method': route.method if route else 'none',
              'route': route.path if route else 'none'}
    instruments.REQUESTS.add(status=str(status), **labels)
    instruments.REQUEST_SECONDS.observe(seconds, **labels)


def _path(request: webob.Request) -> str:
    try:
        return request.path_info or '/'
    except UnicodeDecodeError:
        raise errors.ApiError(
            400, 'invalid_path', 'the path is not UTF-8') from None


def _shown_path(request: webob.Request) -> str:
    """A text from the request, in a form that is safe for the log."""
    return request.environ.get('PATH_INFO', '').encode(
        'latin-1', 'replace').decode('utf-8', 'replace')


def _query(request: webob.Request) -> Any:
    try:
        return request.GET
    except UnicodeDecodeError:
        raise errors.ApiError(
            400, 'invalid_query', 'the query is not UTF-8') from None
