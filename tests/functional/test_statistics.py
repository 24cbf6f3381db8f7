# SPDX-License-Identifier: Apache-2.0
"""Statistics of hosts influence the placement of servers."""

from datetime import timedelta

import pytest

from nova_holistic.embedded.host import EmbeddedHost

HOSTS = [EmbeddedHost(name) for name in ('cmp-1', 'cmp-2', 'cmp-3')]


@pytest.fixture
def cloud(lend_cloud):
    """The temperature has the largest weight, and the free capacity a smaller
    one."""
    with lend_cloud(HOSTS, options={
            ('holistic', 'statistics_weights'): {
                'heat': -100.0, 'fans': 10.0}}) as cloud:
        cloud.create_flavor('small', 1, 512, 1)
        yield cloud


def measure(cloud, ago=0, **heat):
    for host, value in heat.items():
        cloud.table.statistics.put(
            host.replace('_', '-'), {'heat': value},
            cloud.clock() - timedelta(seconds=ago))


def land(cloud):
    server = cloud.create_server('one', 'small')
    cloud.wait_for_status(server, 'ACTIVE')
    return cloud.host_of(server)


def test_a_server_goes_to_the_coolest_host(cloud):
    measure(cloud, cmp_1=80.0, cmp_2=35.0, cmp_3=61.5)
    assert land(cloud) == 'cmp-2'
    measure(cloud, cmp_2=90.0, cmp_1=20.0)
    assert land(cloud) == 'cmp-1'


def test_an_unknown_host_counts_as_the_worst_known(cloud):
    measure(cloud, cmp_1=80.0, cmp_3=79.0)
    assert land(cloud) == 'cmp-3'


def test_outdated_statistics_are_ignored(cloud):
    age = cloud.conf.engine.statistics_max_age
    measure(cloud, cmp_1=30.0, cmp_2=50.0)
    measure(cloud, cmp_3=20.0, ago=age + 60)
    assert land(cloud) == 'cmp-1'
