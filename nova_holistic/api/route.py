# SPDX-License-Identifier: Apache-2.0
"""A route of the API, and the mapping of paths to routes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import routes
import webob

from nova_holistic.api.call import Call
from nova_holistic.api.errors import ApiError
from nova_holistic.api.requests import microversions
from nova_holistic.api.schemas import common
from nova_holistic.api.url_mapping import UrlMapping
from nova_holistic.documents.validation import validator
from nova_holistic.model.frozen import FrozenMapping

Schema = Mapping[str, Any]

PUBLIC = None
"""The policy of a route without authentication."""


@dataclass(frozen=True, slots=True)
class Route:
    """An operation of the API: method and path, policy, schemas of the request
    and of the responses.

    :ivar policy: rule without its prefix ``holistic:``
    :ivar query: schema of the parameters of the query
    :ivar body: schema of the body; None takes none
    :ivar answers: status to schema of the response's body; None means no body
    :ivar headers: further request headers that the route reads
    :ivar since: the first version of the API that has the route
    """

    method: str
    path: str
    handler: Callable[[Call], webob.Response]
    policy: str | None
    answers: Mapping[int, Schema | None] = field(hash=False)
    query: Schema = field(default=FrozenMapping(common.NOTHING), hash=False)
    body: Schema | None = field(default=None, hash=False)
    headers: Collection[str] = ()
    since: str = microversions.MIN

    @property
    def rule(self) -> str | None:
        return self.policy and f'holistic:{self.policy}'

    @property
    def operation(self) -> str:
        """The name of the operation, as in the API's description."""
        return (f'{self.handler.__module__.rpartition(".")[2]}.'
                f'{self.handler.__name__}')


class Router:
    """Map a method and a path to a route and the variables in the path."""

    def __init__(self, table: Sequence[Route], places: UrlMapping):
        self._mapper = routes.Mapper(register=False)
        self._mapper.minimization = False
        self._routes: dict[str, dict[str, Route]] = {}
        for route in table:
            if places.has(route.path):
                self._routes.setdefault(route.path, {})[route.method] = route
        for path in self._routes:
            self._mapper.connect(places.of(path), template=path)
        self._mapper.create_regs([])

    def find(self, method: str,
             path: str) -> tuple[Route, Mapping[str, str]]:
        """
        :raises ApiError: 404 or 405
        """
        match = self._mapper.match(path)
        # The mapper ignores a newline at the end of the path.
        if match is None or path.endswith('\n'):
            raise ApiError(404, 'not_found', 'no resource has this path')
        methods = self._routes[match['template']]
        route = methods.get('GET' if method == 'HEAD' else method)
        if route is None:
            allowed = ', '.join(sorted(
                {*methods, *(('HEAD',) if 'GET' in methods else ())}))
            raise ApiError(405, 'method_not_allowed',
                           f'this path supports {allowed}',
                           {'Allow': allowed})
        return route, match


class RouteValidators:
    """Validators of each route's query and body, created once."""

    def __init__(self, table: Sequence[Route]):
        self._queries = {(r.method, r.path): validator(dict(r.query))
                         for r in table}
        self._bodies = {(r.method, r.path): validator(dict(r.body))
                        for r in table if r.body is not None}

    def query(self, route: Route) -> Callable[[Any], None]:
        return self._queries[route.method, route.path]

    def body(self, route: Route) -> Callable[[Any], None]:
        return self._bodies[route.method, route.path]
