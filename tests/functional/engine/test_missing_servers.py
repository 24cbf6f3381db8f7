# SPDX-License-Identifier: Apache-2.0
"""A reconciler whose configured Nova knows none of the servers releases no
member."""

import logging

from keystoneauth1 import adapter, session, token_endpoint
import pytest

from nova_holistic.reconcile.instances import NovaInstances
from nova_holistic.reconcile.missing_servers import FEW
from nova_holistic.reconcile.reconciler import Reconciler
from tests.functional.engine.world import shop
from tests.unit.reconcile.nova import Nova


@pytest.fixture
def nova(world):
    return Nova(world.clock)


def reconciler(world, instances):
    return Reconciler(world.components(instances=instances))


def built(world, number):
    """Rows of built members. Each group has three members and its own
    project."""
    rows = []
    while len(rows) < number:
        group = world.create(lease=0, project_id=f'project-{len(rows)}')
        rows.extend(world.build(group, path) for path in world.states(group))
    return rows


def states(world):
    return {str(row.state) for row in world.rows()}


def free(world, row):
    """Delete a server and its allocation, as Nova does."""
    world.placement.adapter.delete(
        f'/allocations/{row.instance_uuid}', microversion='1.38')


def errors(caplog):
    return [record.getMessage() for record in caplog.records
            if record.levelno == logging.ERROR]


@pytest.mark.parametrize('number', [3, 6])
def test_an_endpoint_that_is_not_nova_releases_nothing(
        world, caplog, number):
    """The service responds with 404 to every request for a server, as
    Placement does."""
    built(world, number)
    wrong = NovaInstances(adapter.Adapter(
        session.Session(auth=token_endpoint.Token(world.endpoint, 'admin')),
        service_type='compute'))
    for _ in range(2):
        caplog.clear()
        assert reconciler(world, wrong).reconcile() == {}
        (shown,) = [each for each in errors(caplog)
                    if each.startswith('Nova does not find')]
        assert shown.startswith(
            f'Nova does not find {number} of the {number} servers of members')
        assert '[nova]' in shown
        world.wait_out_grace()
    assert states(world) == {'built'}
    world.assert_agreement()


def test_a_claim_is_not_undone_on_the_word_of_such_an_endpoint(world):
    group = world.create(shop(1), lease=0)
    row = world.claim(group, 'web')
    world.swap(row)
    world.wait_out_grace()
    wrong = NovaInstances(adapter.Adapter(
        session.Session(auth=token_endpoint.Token(world.endpoint, 'admin')),
        service_type='compute'))
    assert reconciler(world, wrong).reconcile() == {}
    assert world.states(group)['web'] == 'claimed'


def test_the_nova_of_another_cloud_releases_nothing(world, nova, caplog):
    built(world, FEW + 1)
    assert reconciler(world, NovaInstances(nova.adapter)).reconcile() == {}
    (shown,) = errors(caplog)
    assert shown.startswith('Nova does not find 6 of the 6 servers of')
    assert '6 of them have an allocation' in shown
    assert 'missing_percent' in shown
    assert states(world) == {'built'}


def test_a_few_servers_may_be_gone_at_once(world, nova):
    rows = built(world, FEW + 1)
    nova.set(rows[0].instance_uuid, rows[0].place.host)
    assert reconciler(world, NovaInstances(nova.adapter)).reconcile() == {
        'gone': FEW}


@pytest.mark.parametrize('percent, gone', [(99, 0), (100, 6)])
def test_the_share_is_an_option(world, nova, percent, gone):
    built(world, 6)
    world.conf.set_override('missing_percent', percent, group='reconciler')
    repaired = reconciler(world, NovaInstances(nova.adapter)).reconcile()
    assert repaired.get('gone', 0) == gone


@pytest.mark.parametrize('left, gone', [(0, 6), (5, 6), (6, 0)])
def test_all_servers_may_be_deleted_at_once(world, nova, left, gone):
    """Nova has deleted the allocations of the servers, except for ``left`` of
    them."""
    for row in built(world, 6)[left:]:
        free(world, row)
    repaired = reconciler(world, NovaInstances(nova.adapter)).reconcile()
    assert repaired.get('gone', 0) == gone
