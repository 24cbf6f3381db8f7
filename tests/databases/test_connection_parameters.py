# SPDX-License-Identifier: Apache-2.0
"""Commands for the schema connect with all options of the database."""

import pytest

from nova_holistic.cli import manage
from nova_holistic.table import migration


@pytest.fixture
def configured(empty_url, tmp_path):
    """The name of a configuration file with the parameters of the connection
    in a separate option, where operators name the certificate of a server."""
    url, _, parameters = empty_url.partition('?')
    file = tmp_path / 'nova-holistic.conf'
    file.write_text(f'[holistic_database]\nconnection = {url}\n'
                    f'connection_parameters = {parameters}\n')
    return str(file)


def test_the_schema_is_upgraded_with_the_parameters_of_the_connection(
        configured, capsys):
    head = migration.head()
    for command, expected in (('version', 'empty'), ('upgrade', head),
                              ('version', head)):
        assert manage.main(['--config-file', configured, 'db', command]) == 0
        assert capsys.readouterr().out == f'{expected} (expected {head})\n'
