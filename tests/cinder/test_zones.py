# SPDX-License-Identifier: Apache-2.0
"""A Cinder with two availability zones. A create without a zone is for the
default zone of Cinder."""

from cinder import context
from cinder import objects
import pytest

from tests.cinder.planned_cinder import PlannedCinder
from tests.cinder.pool_driver import broken_pools
from tests.cinder.test_pools import NVME, RBD, THICK, THIN
from tests.cinder.volume_engine import database, VolumeEngine
from tests.tables import new_table


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    found = PlannedCinder(new_table(tmp_path_factory.mktemp('table')))
    found.setUp()
    service = objects.Service.get_by_args(
        context.get_admin_context(), 'storage-1@array', 'cinder-volume')
    service.availability_zone = 'second'
    service.save()
    found.volume_type('array', pool_name='<or> thin <or> thick')
    found.volume_type('far', **{'RESKEY:availability_zones': 'third, second'})
    found.volume_type('near', **{'RESKEY:availability_zones': 'nova'})
    found.report_all()
    yield found
    found.doCleanups()


@pytest.fixture
def cinder(running):
    yield running
    broken_pools.clear()
    running.delete_all()


@pytest.fixture
def engine(cinder, tmp_path):
    found = VolumeEngine(cinder, tmp_path)
    yield found
    found.clear()


@pytest.mark.parametrize('keys', (
    {}, {'availability_zone': 'second'}), ids=('', 'zone'))
def test_an_engine_creates_volumes_in_the_zone_of_their_pools(
        cinder, engine, keys):
    group = engine.plan(database(volume_type='array', **keys))
    engine.finish(group)
    for row in engine.volumes(group).values():
        assert str(row.state) == 'available', row.fault
    assert set(engine.pools(group).values()) <= {THIN, THICK}


@pytest.mark.parametrize('kind, pools', (
    ('far', {THIN, THICK}), ('near', {NVME, RBD})))
def test_a_volume_type_of_a_zone_is_planned_in_this_zone(
        cinder, engine, kind, pools):
    group = engine.plan(database(30, volume_type=kind))
    assert set(cinder.table.volumes.placed(group).values()) <= pools
    engine.finish(group)
    assert set(engine.pools(group).values()) <= pools
    for row in engine.volumes(group).values():
        assert str(row.state) == 'available', row.fault
