# SPDX-License-Identifier: Apache-2.0
"""An operator has created the database with another character set."""

from oslo_config import cfg
from oslo_upgradecheck.upgradecheck import Code
import pytest

from nova_holistic.cli import status_checks
from nova_holistic import conf as options
from nova_holistic.table import character_set
from nova_holistic.table.database import Database
from nova_holistic.table import errors
from nova_holistic.table import migration

pytestmark = pytest.mark.parametrize('server', ['mariadb'], indirect=True)


@pytest.fixture(params=['utf8mb3', 'latin1'])
def other(server, request):
    """The character set of a database without tables, and its URL."""
    url = server.create('other')
    server.execute(f'ALTER DATABASE other CHARACTER SET {request.param}')
    yield request.param, url
    server.drop('other')


def upgraded_before(url, monkeypatch):
    """Upgrade the schema with code that does not check the character set."""
    with monkeypatch.context() as patched:
        patched.setattr(character_set, 'problem', lambda database: None)
        migration.upgrade(url)


def database_check(url):
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([])
    conf.set_override('connection', url, group='holistic_database')
    return status_checks.database(conf)


def test_an_empty_database_is_not_upgraded_before_it_has_utf8mb4(
        server, other):
    found, url = other
    with pytest.raises(errors.TableError, match=(
            f'the default character set of the database is {found}: run '
            'ALTER DATABASE other CHARACTER SET utf8mb4')):
        migration.upgrade(url)
    assert migration.version(url) is None
    server.execute('ALTER DATABASE other CHARACTER SET utf8mb4')
    migration.upgrade(url)
    assert database_check(url).code == Code.SUCCESS


def test_existing_tables_are_upgraded_with_a_warning(
        server, other, monkeypatch, caplog):
    _, url = other
    upgraded_before(url, monkeypatch)
    server.execute('ALTER DATABASE other CHARACTER SET utf8mb4')
    migration.upgrade(url)
    text = 'have another character set than utf8mb4'
    assert text in caplog.text
    result = database_check(url)
    assert result.code == Code.WARNING
    assert text in result.details
    assert 'holistic_actions.from_flavor' in result.details


def test_a_connection_with_another_character_set_is_reported(server, other):
    _, url = other
    server.execute('ALTER DATABASE other CHARACTER SET utf8mb4')
    assert 'write charset=utf8mb4 in [holistic_database]' in (
        character_set.problem(Database(f'{url}&charset=latin1')))
