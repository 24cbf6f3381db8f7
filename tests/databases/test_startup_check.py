# SPDX-License-Identifier: Apache-2.0
"""Options that the driver of the database rejects end a service at its
start."""

import types

import pytest

from nova_holistic.table import errors
from nova_holistic.table import startup_check

REJECTED = {
    'mysql': ('nonsense=1', 'read_timeout=soon', 'charset=nonsense',
              'ssl_ca=/no/such/file'),
    'postgresql': ('nonsense=1',)}
"""Parameters of connections."""


def configured(url, **options):
    return types.SimpleNamespace(
        holistic_database=Options(connection=url, **options))


class Options(dict):
    """Options as attributes and as a mapping, like those of oslo.config."""

    __getattr__ = dict.__getitem__


@pytest.mark.parametrize('check', [
    startup_check.check_schema_usable, startup_check.connected])
def test_a_parameter_that_the_driver_rejects_is_an_error(table_url, check):
    kind = table_url.partition('+')[0]
    for parameter in REJECTED[kind]:
        with pytest.raises(errors.InvalidConnection, match=(
                r'options of \[holistic_database\]: ')):
            check(configured(table_url, connection_parameters=parameter))


def test_an_unreachable_database_does_not_prevent_the_start(caplog):
    """The options may request any number of retries, ten seconds apart."""
    for driver in ('mysql+pymysql', 'postgresql+psycopg2'):
        caplog.clear()
        startup_check.check_schema_usable(configured(
            f'{driver}://ann@127.0.0.1:1/holistic', max_retries=-1))
        assert 'could not be checked' in caplog.messages[-1]
