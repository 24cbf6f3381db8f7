# SPDX-License-Identifier: Apache-2.0
"""The API inside nova-api: a filter in api-paste.ini, after keystonecontext.

The filter serves groups and plans below ``/v2.1/os-holistic-…``, with the
service's table of routes and with the user that Nova has authenticated. It
also rejects a create request with an invalid pointer before Nova creates the
server. All other requests pass unchanged.
"""

from collections.abc import Callable, Mapping
import json
import re
from typing import Any

from oslo_config import cfg
from oslo_limit import opts as limit_opts
import webob

from nova_holistic.api.app import AppParts, make_app
from nova_holistic.api.call import Engines
from nova_holistic.api.context import RequestContext
from nova_holistic.api.middleware import Wsgi
from nova_holistic.api import nova_servers
from nova_holistic.api.url_mapping import UrlMapping
from nova_holistic import conf as options
from nova_holistic.messaging.client import EngineClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic import objectives
from nova_holistic.observers import observe
from nova_holistic.scheduler.claim import possible_growth
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler import nova_version
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table import startup_check
from nova_holistic.table.store import PlacementTable

CONTEXT = 'nova.context'
PLACES = UrlMapping(FrozenMapping({
    '/v1/groups': '/os-holistic-groups',
    '/v1/plans': '/os-holistic-plans'}), only=True)

_OURS = re.compile('/os-holistic-(?:groups|plans)(?:/.*)?')
_CREATES = re.compile('/(?:servers|os-volumes_boot)/?')

_KEPT = ('user_id', 'project_id', 'domain_id', 'user_domain_id',
         'project_domain_id', 'system_scope', 'roles', 'is_admin_project',
         'request_id', 'global_request_id')


def filter_factory(global_conf: Mapping[str, str],
                   **local_conf: str) -> Callable[[Wsgi], 'NovaFilter']:
    """For ``paste.filter_factory``. nova.conf is already read, and contains
    the options of this project.

    :raises oslo_config.cfg.ConfigFileValueError: the value of an option of
        this project is invalid
    :raises UnknownPlugin: the default objective is not installed
    :raises SchemaTooOld: the schema of the database must be upgraded first
    :raises UnsupportedVersion: this version of Nova is not supported
    """
    conf = cfg.CONF
    options.register_opts(conf)
    if conf.holistic_api.limits == 'oslo_limit':
        limit_opts.register_opts(conf)
    options.check_values(conf, in_nova=True)
    objectives.load_objective(conf.planner.objective, '[planner] objective')
    nova_version.must_be_supported(conf)
    startup_check.check_schema_usable(conf)
    table = PlacementTable.from_conf(conf, 'api')
    observe(conf, table.database, 'api')
    engines = EngineClient.from_conf(conf)
    return lambda app: NovaFilter(app, conf, table, engines)


class NovaFilter:
    """Threads may share an instance."""

    def __init__(self, app: Wsgi, conf, table: PlacementTable,
                 engines: Engines):
        self._app = app
        self._conf = conf
        self._table = table
        self._api = make_app(
            conf, table, engines, DatabaseClock(table.database),
            AppParts(places=PLACES, context_of=from_nova))

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        before, path = _split(environ)
        if _OURS.fullmatch(path):
            environ['PATH_INFO'] = path
            # With this prefix, links in responses start with the client's URL.
            environ['SCRIPT_NAME'] = environ.get('SCRIPT_NAME', '') + before
            return self._api(environ, start_response)
        if environ['REQUEST_METHOD'] == 'POST' and _CREATES.fullmatch(path):
            refusal = self._refusal(environ)
            if refusal is not None:
                return refusal(environ, start_response)
        return self._app(environ, start_response)

    def _refusal(self, environ: dict[str, Any]) -> webob.Response | None:
        """A response in place of Nova's; None passes the request to Nova."""
        context = environ.get(CONTEXT)
        if context is None or self._conf.holistic.failure_mode == 'yield':
            return None
        try:
            # The copy leaves the body unread for Nova.
            nova_servers.check(self._table, context.project_id,
                               webob.Request(environ).body,
                               possible_growth.is_possible)
        except RequestRefused as refused:
            return _bad_request(str(refused))
        return None


def _split(environ: Mapping[str, Any]) -> tuple[str, str]:
    """The path without the project id that Nova still accepts before it. Any
    other prefix belongs to a resource of Nova."""
    path = environ.get('PATH_INFO', '')
    context = environ.get(CONTEXT)
    before = f'/{context.project_id}' if context is not None else ''
    if before and path.startswith(f'{before}/'):
        return before, path.removeprefix(before)
    return '', path


def from_nova(environ: Mapping[str, Any]) -> RequestContext:
    """The context of Nova's request; an anonymous context if Nova has none."""
    nova_context = environ.get(CONTEXT)
    if nova_context is None:
        return RequestContext()
    return RequestContext(**{
        name: getattr(nova_context, name) for name in _KEPT})


def _bad_request(message: str) -> webob.Response:
    """A fault in Nova's format."""
    return webob.Response(
        status=400, content_type='application/json', charset='UTF-8',
        body=json.dumps({'badRequest': {
            'message': message, 'code': 400}}).encode())
