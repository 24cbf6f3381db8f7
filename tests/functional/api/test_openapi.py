# SPDX-License-Identifier: Apache-2.0
"""Responses match the description of the API, for valid and invalid requests
that are generated from it."""

import hypothesis
from hypothesis import strategies
import pytest
import schemathesis
from schemathesis import config, GenerationMode

from nova_holistic.api.routes import ROUTES
from nova_holistic.model.nova.server_group import ServerGroup
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.effort import examples
from tests.functional.engine.world import shop, World
from tests.unit.api.service import ADMIN, Service
from tests.unit.table import builders

TOKEN = 'administrator'
LATEST = {'OpenStack-API-Version': 'holistic latest'}


class Keystone:
    """Accepts one token, and sets the headers that keystonemiddleware sets."""

    def __init__(self, app):
        self._app = app

    def __call__(self, environ, start_response):
        authenticated = environ.pop('HTTP_X_AUTH_TOKEN', None) == TOKEN
        for name, value in ADMIN.headers().items():
            key = f'HTTP_{name.upper().replace("-", "_")}'
            environ.pop(key, None)
            if authenticated:
                environ[key] = value
        return self._app(environ, start_response)


@pytest.fixture(scope='module')
def world(tmp_path_factory):
    with World(tmp_path_factory.mktemp('openapi')) as world:
        yield world


@pytest.fixture(scope='module')
def service(world):
    return Service(world.table, DirectEngine(
        world.conf, world.clock, PlanningParts(
            world.table, world.inventory, world.planner, world.lifecycle,
            world.repairer)), max_request_body=2**20)


@pytest.fixture(scope='module')
def described(service):
    """The description, as the API serves it."""
    settings = config.SchemathesisConfig.from_dict({
        'checks': {
            # A schema cannot state that two names are equal, or that an
            # objective does not exist.
            'positive_data_acceptance': {'enabled': False},
            # The API responds with 413 if a list exceeds the maximum size of a
            # body.
            'negative_data_rejection': {'expected-statuses': ['4xx']},
        }})
    return schemathesis.openapi.from_wsgi(
        '/v1/openapi.json', Keystone(service.app), config=settings)


def somebody(service, world, route):
    """Create the objects that a route needs. Returns the values of the
    variables in its path."""
    if '/plans' in route.path:
        plan = service.ask('POST', '/v1/plans', shop(nodes=1), ADMIN)
        return {'plan_id': plan.json['plan']['id']}
    group = service.ask('POST', '/v1/groups', shop(nodes=1), ADMIN)
    values = {'group_id': group.json['group']['id'], 'host': 'a1',
              'path': 'db/node-0', 'child': 'dfw'}
    if '/bindings' in route.path:
        values['target'] = uuid = builders.new_uuid()
        world.inventory.known_server_groups[uuid] = ServerGroup(
            uuid, 'soft-anti-affinity', ADMIN.project)
        # A group for which the cloud has no capacity cannot be bound.
        service.ask('PUT', f'/v1/groups/{values["group_id"]}/bindings/{uuid}',
                    {'binding': {'path': 'db'}}, ADMIN, LATEST)
    return values


# A request to a public route cannot be invalid.
CASES = [(route, mode) for route in ROUTES for mode in GenerationMode
         if route.rule or mode is GenerationMode.POSITIVE]


@pytest.mark.parametrize('route, mode', CASES, ids=lambda each: getattr(
    each, 'policy', None) or getattr(each, 'value', None) or each.path)
def test_every_response_matches_the_openapi_description(
        world, service, described, route, mode):
    operation = described[route.path.replace(':.+}', '}')][route.method]

    @examples(10)
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode),
                      known=strategies.integers(0, 2))
    def validated(case, known):
        # Otherwise the generated path names a random UUID, which no group has.
        headers = {'X-Auth-Token': TOKEN}
        if known and mode is GenerationMode.POSITIVE:
            headers.update(LATEST)
            identifiers = somebody(service, world, route)
            case.path_parameters.update({
                name: identifiers[name] for name in case.path_parameters})
        case.call_and_validate(headers=headers)

    validated()
