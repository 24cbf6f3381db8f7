# SPDX-License-Identifier: Apache-2.0
"""Storage pools in responses of Cinder. ``tests/cinder`` uses a real Cinder.
"""

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
import pytest
import requests_mock

from nova_holistic.inventory.cinder.pools import with_cinder_pools
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.topology.aggregates import AggregatesTopology
from tests.unit.builders import cloud, host

URL = 'http://cinder.example.org/v3'
POOL = {'total_capacity_gb': 10, 'free_capacity_gb': 10}


def service(name, zone='nova', **fields):
    return {'binary': 'cinder-volume', 'host': name, 'zone': zone,
            'status': 'enabled', 'state': 'up', **fields}


@pytest.fixture
def ask():
    """Read the pools from these answers."""
    def ask(*services, pools=None, capabilities=POOL):
        with requests_mock.Mocker() as web:
            web.get(f'{URL}/types', json={'volume_types': []})
            web.get(f'{URL}/os-services', json={'services': services})
            web.get(f'{URL}/scheduler-stats/get_pools', json={'pools': [
                {'name': name, 'capabilities': capabilities}
                for name in pools or ['s1@lvm#p']]})
            return with_cinder_pools(
                cloud(host('h1', 'z1'), levels=('az', 'host')),
                Adapter(Session(Token(URL, 'token')),
                        service_type='block-storage'),
                AggregatesTopology(('az', 'host'))).pools

    return ask


@pytest.mark.parametrize('services, enabled', [
    ([service('s1@lvm')], True),
    ([service('s1@lvm', status='disabled')], False),
    ([service('s1@lvm', state='down')], False),
    ([], False),
    # One service of a cluster is enough.
    ([service('a@lvm', cluster='s1@lvm', state='down'),
      service('b@lvm', cluster='s1@lvm'),
      service('c@lvm', cluster='s1@lvm', status='disabled')], True)])
def test_a_pool_without_a_working_service_is_disabled(ask, services, enabled):
    pool, = ask(*services)
    assert pool.enabled == enabled


def test_a_pool_is_in_the_zone_of_its_service_or_at_its_host(ask):
    first, second = ask(service('h1@lvm', 'z9'), service('s1@lvm', 'z2'),
                        pools=['s1@lvm#p', 'h1@lvm#p'])
    assert (first.name, first.location) == ('h1@lvm#p', ('z1',))
    assert (second.name, second.location) == ('s1@lvm#p', ('z2',))
    assert first.availability_zone == 'z9'


@pytest.mark.parametrize('capabilities', [
    None, [], {'total_capacity_gb': 'much'}, {'total_capacity_gb': None}])
def test_a_senseless_answer_is_an_error(ask, capabilities):
    with pytest.raises(ServiceFailed, match='get_pools.*unexpected'):
        ask(service('s1@lvm'), capabilities=capabilities)
