# SPDX-License-Identifier: Apache-2.0
"""A short version of the benchmark of the federation, over real HTTP."""

import jsonschema
import pytest

from benchmarks import federation, federation_clouds
from benchmarks.simulated_cloud import SimulatedCloud
from nova_holistic.api.schemas import groups as group_schemas
from nova_holistic.api.schemas import members as member_schemas
from nova_holistic.api.schemas import plans as plan_schemas
from nova_holistic.policies import load_policy_types

NUMBER, HOSTS = 5, 12


@pytest.fixture(scope='module', autouse=True)
def one_process():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(federation, 'PROCESSES', 1)
        yield


@pytest.fixture(scope='module')
def costs(one_process):
    """Cost of three groups over five clouds, by strategy."""
    with federation.running_clouds(NUMBER, HOSTS, 0.5) as urls:
        yield {name: federation.measure(
            urls, strategy, federation.documents(3))
            for name, strategy in federation.STRATEGIES.items()}


def test_every_strategy_places_the_groups(costs):
    assert {name: cost.placed for name, cost in costs.items()} == (
        dict.fromkeys(federation.STRATEGIES, 3))


def test_brute_force_requests_everything(costs):
    # Two groups of one cloud: the whole and two parts of each cloud. One
    # group with eight equal servers and another part, in two clouds: offers
    # for two kinds of parts of each cloud. A commit has two requests for each
    # of four parts.
    least = 2 * 3 * NUMBER + 2 * NUMBER + 2 * 4
    assert least <= costs['brute force'].requests <= least + NUMBER


@pytest.mark.parametrize('name', [
    name for name in federation.STRATEGIES if name != 'brute force'])
def test_an_optimisation_saves_requests_and_bytes(costs, name):
    assert costs[name].requests < costs['brute force'].requests
    assert costs[name].megabytes < costs['brute force'].megabytes


def test_the_share_of_groups_that_are_placed():
    placed, together, total = federation.shares(
        2, 2, 0.5, federation.documents(6), ['all'])
    # The federation may place more groups than one planner, or fewer, because
    # each places the groups one after another.
    assert 0 < placed['all'] < total == 6
    assert 0 < together < total


def test_a_calculated_cost_is_on_the_line():
    found = federation.calculated(
        federation.Cost(2, 2, 20, 2.0, 2.0, 2.0, 4),
        federation.Cost(2, 2, 200, 20.0, 2.0, 20.0, 4), (10, 100), 1000)
    assert (found.requests, found.megabytes, found.rounds) == (1000, 100, 2)
    assert found.parent_seconds == 1


def test_answers_of_a_simulated_cloud_fit_the_schemas_of_the_api():
    cloud = SimulatedCloud(federation_clouds.snapshot(0, HOSTS, 0.5),
                           load_policy_types(), federation._now)
    group, full = federation.documents(2)
    full['groups'][0]['members'][0]['count'] = 1000
    for document in (group, full):
        jsonschema.validate({'plan': {**cloud.plan(document), 'links': []}},
                            plan_schemas.ONE)
        found = cloud.create(document, lease=60, key='k' + document['name'])
        # Keys that a parent does not read are missing.
        known = group_schemas.BRIEF['properties']
        for key, value in found.items():
            if key != 'idempotency_key':
                jsonschema.validate(value, known[key])
        jsonschema.validate(
            {'placements': cloud.placements(found['id'])},
            member_schemas.PLACEMENTS)
