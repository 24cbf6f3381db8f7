# SPDX-License-Identifier: Apache-2.0
"""Fixtures for commands, with the API, an engine and a real Placement."""

import json

import pytest
import yaml

from tests.functional.api.conftest import service, world  # noqa: F401
from tests.functional.engine.world import shop
from tests.unit.client.cloud import Cloud, Terminal
from tests.world.leftover_check import leaves_nothing  # noqa: F401


@pytest.fixture
def terminal(service, capsys, own_logging):  # noqa: F811
    """A terminal on a cloud with the API, an engine and a Placement."""
    with Cloud(service.app) as cloud:
        yield Terminal(cloud, capsys)


@pytest.fixture
def written(tmp_path):
    """A function that writes a document into a file."""
    def written(document=None, name='shop.yaml'):
        (tmp_path / name).write_text(yaml.safe_dump(document or shop()))
        return tmp_path / name
    return written


@pytest.fixture
def type_(terminal):
    """A function that runs a command, which must succeed, and returns its
    output."""
    def type_(*words, **options):
        output = terminal.openstack('holistic', *words, **options)
        assert (output.code, output.err) == (0, '')
        return output.out
    return type_


@pytest.fixture
def read(type_):
    """A function that runs a command, and parses its output as JSON."""
    return lambda *words, **options: json.loads(
        type_(*words, '-f', 'json', **options))


@pytest.fixture
def refused(terminal):
    """A function that runs a command, which must fail, and returns its message
    of one line."""
    def refused(*words, **options):
        output = terminal.openstack('holistic', *words, **options)
        assert output.code == 1
        assert output.out == ''
        line, end = output.err.split('\n')
        assert end == ''
        return line
    return refused
