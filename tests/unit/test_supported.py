# SPDX-License-Identifier: Apache-2.0
"""The accepted versions of Nova and Python."""

import configparser
import logging
import pathlib

import pytest

from nova_holistic import supported

SETUP = pathlib.Path(__file__).parents[2] / 'setup.cfg'


@pytest.mark.parametrize('version', [
    '32.0.0', '33.0.2', '34.0.0', '34.1.0.dev12', '34.0.0-1.el10'])
def test_supported_novas_are_accepted_without_a_warning(version, caplog):
    supported.check_nova_version(version, allowed=False)
    assert not caplog.records


@pytest.mark.parametrize('version', [
    '31.3.1', '35.0.0', '35.0.0.dev3', '3.2.0', '', 'unknown'])
def test_other_novas_are_refused(version):
    with pytest.raises(supported.UnsupportedVersion) as refusal:
        supported.check_nova_version(version, allowed=False)
    assert f'Nova {version} is not supported' in str(refusal.value)
    assert 'supports Nova 32 to 34' in str(refusal.value)
    assert 'allow_unsupported_nova' in str(refusal.value)


def test_the_operator_can_accept_another_nova(caplog):
    supported.check_nova_version('35.0.0', allowed=True)
    record, = caplog.records
    assert record.levelno == logging.WARNING
    assert 'Nova 35.0.0 is not supported' in record.getMessage()


@pytest.mark.parametrize('version', [(3, 11), (3, 12), (3, 13, 5)])
def test_supported_pythons_cause_no_warning(version, caplog):
    supported.warn_of_python(version)
    assert not caplog.records


@pytest.mark.parametrize('version', [(3, 10), (3, 14), (4, 0)])
def test_other_pythons_cause_a_warning(version, caplog):
    supported.warn_of_python(version)
    record, = caplog.records
    assert record.levelno == logging.WARNING
    assert 'supports Python 3.11 to 3.13' in record.getMessage()


def test_the_requirements_of_the_package_are_the_supported_versions():
    setup = configparser.ConfigParser()
    setup.read(SETUP)
    oldest, newest = supported.NOVA
    for extra in ('nova', 'embedded'):
        assert f'nova>={oldest}.0.0,<{newest + 1}' in setup['extras'][
            extra].splitlines()
    classifiers = setup['metadata']['classifier']
    (major, first), (_, last) = supported.PYTHON
    for minor in range(first, last + 1):
        assert f'Python :: {major}.{minor}' in classifiers
    assert setup['metadata']['python_requires'] == f'>={major}.{first}'
