# SPDX-License-Identifier: Apache-2.0
"""Schedulers that start with an outdated or missing placement table."""

import pytest

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table import errors
from nova_holistic.table import migration

HOST = EmbeddedHost('only')


def with_table(cloud, url):
    cloud.conf.set_override('connection', url, group='holistic_database')


@pytest.fixture
def cloud(lend_cloud):
    with lend_cloud([HOST], scheduler='stock') as cloud:
        yield cloud


def test_a_scheduler_refuses_to_start_on_an_old_schema(
        cloud, tmp_path):
    url = f'sqlite:///{tmp_path}/old.sqlite'
    migration.upgrade(url, '0002')
    with_table(cloud, url)
    with pytest.raises(errors.SchemaTooOld, match='db upgrade'):
        cloud.restart_scheduler('holistic')
    migration.upgrade(url)
    cloud.restart_scheduler('holistic')


def test_a_scheduler_starts_without_its_database(cloud, tmp_path):
    cloud.create_flavor('small', 2, 2048, 10)
    with_table(cloud, f'sqlite:///{tmp_path}/away/table.sqlite')
    cloud.restart_scheduler('holistic')
    server = cloud.create_server('other-server', 'small')
    cloud.wait_for_status(server, 'ACTIVE')
