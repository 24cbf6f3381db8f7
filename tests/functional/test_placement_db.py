# SPDX-License-Identifier: Apache-2.0
"""The driver placement-db gives the snapshots of the driver placement."""

from placement import db_api
import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from tests.functional.placement_database import save_copy
from tests.functional.watched_inventory import Watch

HOSTS = (
    EmbeddedHost('cmp-1', zone='az1', rack='r1', traits=('CUSTOM_GREEN',),
                 cpu_allocation_ratio=1.7, reserved_memory_mb=512),
    EmbeddedHost('cmp-2', zone='az1', rack='r2',
                 load={'VCPU': 6, 'MEMORY_MB': 1024}),
    EmbeddedHost('cmp-3'),
)


@pytest.fixture(scope='module')
def cloud(lend_cloud):
    with lend_cloud(HOSTS, scheduler='stock') as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


class Both:
    """An inventory that uses the API, and another that uses the database."""

    def __init__(self, cloud, path):
        self._path = path
        self._api = Watch(cloud)
        self.database = Watch(cloud, providers=ProviderRows(
            PlacementDatabase(f'sqlite:///{path}')))

    def hosts(self):
        """The hosts from the database. Asserts that the API gives the same
        snapshot."""
        save_copy(db_api.get_placement_engine(), self._path)
        found = self.database.snapshot()
        assert found == self._api.snapshot()
        return {host.name: host for host in found.hosts}


@pytest.fixture
def both(cloud, tmp_path):
    return Both(cloud, tmp_path / 'placement.sqlite')


def test_the_first_snapshot_is_the_same_without_a_request(cloud, both):
    hosts = both.hosts()
    assert hosts['cmp-2'].servers == 1
    assert hosts['cmp-1'].inventories['VCPU'].allocation_ratio == 1.7
    assert 'CUSTOM_GREEN' in hosts['cmp-1'].traits
    assert both.database.reread == 0
    assert not any('resource_providers' in each or 'allocation' in each
                   for each in both.database.requests)


def test_changes_are_the_same_and_other_hosts_the_same_objects(cloud, both):
    first = both.hosts()
    server = cloud.create_server('brief', 'small')
    cloud.wait_for_status(server, 'ACTIVE')
    host = cloud.host_of(server)
    second = both.hosts()
    assert {name for name in first if second[name] is not first[name]} == {
        host}
    assert second[host].inventories['VCPU'].used == (
        first[host].inventories['VCPU'].used + 2)
    cloud.delete_server(server)
    assert both.hosts() == first
    cloud.disable_compute('cmp-3')
    assert not both.hosts()['cmp-3'].enabled
    cloud.enable_compute('cmp-3')
    assert both.hosts() == first
