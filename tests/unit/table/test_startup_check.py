# SPDX-License-Identifier: Apache-2.0
"""The check of the database at the start of a service."""

import logging
import sys
import types

import pytest

from nova_holistic.table import errors
from nova_holistic.table import migration
from nova_holistic.table import startup_check


def configured(url, **options):
    return types.SimpleNamespace(
        holistic_database={'connection': url, **options})


def test_an_upgraded_database_is_accepted(table_url, caplog):
    with caplog.at_level(logging.WARNING, 'nova_holistic'):
        startup_check.check_schema_usable(configured(table_url))
    assert caplog.messages == []


def test_an_old_schema_is_refused(empty_url):
    migration.upgrade(empty_url, '0002')
    with pytest.raises(errors.SchemaTooOld, match='db upgrade'):
        startup_check.check_schema_usable(configured(empty_url))


def test_an_unreachable_database_does_not_prevent_the_start(caplog):
    """tests/databases contains the same test for servers."""
    with caplog.at_level(logging.WARNING, 'nova_holistic'):
        startup_check.check_schema_usable(configured(
            'sqlite:////no/such/folder/table.sqlite'))
    (shown,) = caplog.messages
    assert 'could not be checked' in shown


@pytest.mark.parametrize('url', ['', 'nonsense', 'carrier+pigeon://nowhere',
                                 'postgresql+psycopg2://host:port/name'])
def test_an_invalid_database_url_is_refused_without_showing_it(url):
    with pytest.raises(errors.TableError, match='connection') as refused:
        startup_check.check_schema_usable(configured(url))
    assert not url or url not in str(refused.value)


def test_a_missing_driver_is_an_error(monkeypatch):
    """The extra mysql may be missing, or the URL does not name PyMySQL."""
    monkeypatch.setitem(sys.modules, 'MySQLdb', None)
    with pytest.raises(errors.InvalidConnection, match='MySQLdb'):
        startup_check.check_schema_usable(
            configured('mysql://ann@127.0.0.1:1/holistic'))


def test_an_invalid_url_of_a_replica_is_an_error(table_url):
    with pytest.raises(errors.InvalidConnection, match='pigeon'):
        startup_check.check_schema_usable(
            configured(table_url, slave_connection='pigeon://nowhere'))


@pytest.mark.parametrize('url, parameters, waits', [
    ('mysql+pymysql://x/y', None, 'connect_timeout=5&read_timeout=5'),
    ('mysql+pymysql://x/y?connect_timeout=9', 'a=b', 'a=b&read_timeout=5'),
    ('postgresql://x/y', '', 'connect_timeout=5'),
    ('postgresql://x/y', 'connect_timeout=1', 'connect_timeout=1'),
    ('sqlite:////x/y', None, '')])
def test_no_service_waits_long_for_a_silent_database(url, parameters, waits):
    found = startup_check._with_short_timeout({
        'connection': url, 'max_retries': 10,
        'connection_parameters': parameters})
    assert found['connection_parameters'] == waits
    assert found['max_retries'] == 0
