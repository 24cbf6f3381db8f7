# SPDX-License-Identifier: Apache-2.0
"""The driver placement-db reads a real Placement on MariaDB and PostgreSQL."""

import fixtures
from oslo_db.sqlalchemy import engines
from placement import db_api, deploy
from placement.db.sqlalchemy import migration
import pytest

from nova_holistic.inventory.errors import DatabaseFailed
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from nova_holistic.inventory.resource_providers.provider_source import (
    Sharing)
from tests.functional.changing_providers import (
    BOTH, METAL, ODD, PLAIN, Providers, VERSION)
from tests.functional.placement_database import head, new_conf, SYNCED
from tests.functional.placement_service import PlacementService
from tests.functional.sharing_providers import add_sharing


class ServerDatabase(fixtures.Fixture):
    """Placement uses this database until the end of the fixture. Placement's
    own migrations have created its tables."""

    def __init__(self, url):
        super().__init__()
        self._url = url

    def _setUp(self):
        conf = new_conf()
        conf([], default_config_files=[])
        # Placement ignores the call if it was configured before.
        db_api.configure(conf)
        engine = engines.create_engine(self._url)
        self.addCleanup(engine.dispose)
        self.addCleanup(db_api.placement_context_manager.patch_engine(engine))
        migration.upgrade('head')
        for flag in SYNCED:
            self.useFixture(fixtures.MonkeyPatch(flag, False))
        deploy.update_database(conf)


@pytest.fixture
def placement(empty_url):
    with PlacementService(ServerDatabase(empty_url)) as service:
        service.adapter.put('/resource_classes/CUSTOM_METAL',
                            microversion=VERSION)
        yield service


@pytest.fixture
def database(empty_url):
    database = PlacementDatabase(empty_url)
    yield database
    database.close()


def test_rows_equal_the_answers_of_the_api(placement, database):
    providers, rows = Providers(placement), ProviderRows(database)
    one, other, *_ = [providers.add(each)
                      for each in (PLAIN, BOTH, ODD, METAL)]
    providers.offer(other, {'VCPU': {'total': 8, 'allocation_ratio': 1.7},
                            'MEMORY_MB': {'total': 64, 'reserved': 3}})

    def read():
        first_read = rows.read(providers.uuids)
        assert first_read == providers.anew()
        assert rows.reread(providers.uuids) == first_read
        assert rows.list() == providers.reader.list()
        return first_read

    first = read()
    consumers = [providers.allocate({one: {'VCPU': 2, 'MEMORY_MB': 8},
                                     other: {'VCPU': 11}}),
                 providers.allocate({one: {'VCPU': 3}})]
    second = read()
    assert second[one].used() == {'VCPU': 5, 'MEMORY_MB': 8}
    assert second[one].consumers == 2
    providers.give_traits(one, ['HW_CPU_X86_AVX'])
    assert read()[one].traits == {'HW_CPU_X86_AVX'}
    assert rows.with_trait('HW_CPU_X86_AVX') == {one}
    for consumer in consumers:
        providers.free(consumer)
    third = read()
    assert third[one].used() == {'VCPU': 0, 'MEMORY_MB': 0}
    unchanged = first.keys() - {one, other}
    assert all(third[uuid] is first[uuid] for uuid in unchanged)


def test_all_statements_of_a_view_see_one_moment(placement, database):
    providers = Providers(placement)
    providers.add(PLAIN)
    count = 'SELECT count(*) FROM resource_providers'
    with database.view() as connection:
        before = connection.exec_driver_sql(count).scalar()
        providers.add(PLAIN)
        assert connection.exec_driver_sql(count).scalar() == before
    with database.view() as connection:
        assert connection.exec_driver_sql(count).scalar() == before + 1


def test_a_view_cannot_write(placement, database):
    with pytest.raises(DatabaseFailed, match='(?i)read.only transaction'):
        with database.view() as connection:
            connection.exec_driver_sql('DELETE FROM traits')
    with database.view() as connection:
        assert connection.exec_driver_sql(
            'SELECT count(*) FROM traits').scalar() > 100


def test_the_newest_revision_of_the_installed_placement_is_known(
        placement, database):
    with database.view() as connection:
        assert connection.exec_driver_sql(
            'SELECT version_num FROM alembic_version').scalar() == head()


def test_sharing_providers_are_those_of_the_api(placement, database):
    providers, rows = Providers(placement), ProviderRows(database)
    one, _ = providers.add(PLAIN), providers.add(PLAIN)
    nfs = add_sharing(placement.adapter, 'nfs', [one], DISK_GB=100)
    listing = rows.list()
    assert rows.sharing(listing, {nfs}) == {
        nfs: Sharing('nfs', frozenset([one]))}
    assert rows.sharing(listing, {nfs}) == providers.reader.sharing(
        listing, {nfs})
    assert not rows.sharing(listing, set())
