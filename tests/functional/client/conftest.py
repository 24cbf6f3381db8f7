# SPDX-License-Identifier: Apache-2.0
"""Fixtures for commands, with the API, an engine and a real Placement."""

import functools
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
    """A function that runs a command with bad input, and returns its message
    of one line."""
    return functools.partial(_error_line, terminal, 2)


@pytest.fixture
def failed(terminal):
    """A function that runs a command that must fail for another reason than
    its input, and returns its message of one line."""
    return functools.partial(_error_line, terminal, 1)


def _error_line(terminal, code, *words, **options):
    output = terminal.openstack('holistic', *words, **options)
    assert (output.code, output.out) == (code, '')
    line, end = output.err.split('\n')
    assert end == ''
    return line
