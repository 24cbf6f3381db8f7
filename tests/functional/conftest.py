# SPDX-License-Identifier: Apache-2.0
"""Real clouds for the functional tests."""

# This import comes first: it selects green threads for all later imports.
import nova_holistic.embedded  # noqa: F401, I100

import collections
import contextlib
import logging
import pathlib

import pytest

import tests.fast_sqlite  # noqa: F401
from tests.functional.claims import HOSTS
from tests.functional.parts import modules_of_part, read_part
from tests.functional.planned_cloud import PlannedCloud
from tests.functional.shared_cloud import SharedCloud
from tests.plan_checks import every_plan_is_checked  # noqa: F401
import tests.shared_statements  # noqa: F401

OVERRIDDEN = (
    ('failure_mode', 'holistic'), ('search_time_limit', 'holistic'),
    ('evacuate_over_holds', 'holistic'), ('unchecked_moves', 'holistic'),
    ('grace', 'reconciler'))
"""Options, with their groups, that a test of ``cloud`` may override."""

FOLDER = pathlib.Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption(
        '--part', metavar='N/M',
        help='of the tests with an embedded cloud, run part N of M parts '
             '(default: all of them)')


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Run the tests without a cloud first, then those of the shared cloud,
    then the others.

    Only one cloud can run in a process. In this order the shared cloud starts
    once. Modules with the same hosts follow each other, because adding and
    removing a host takes longer than a test of one server. Otherwise the tests
    keep their order. The marker embedded_cloud selects the tests that need a
    cloud.
    """
    positions = [number for number, item in enumerate(items) if FOLDER
                 in item.path.parents]
    ordered = sorted((items[number] for number in positions), key=_order)
    for item in ordered:
        if _cloud(item):
            item.add_marker('embedded_cloud')
    for number, item in zip(positions, ordered):
        items[number] = item
    if config.option.part is not None:
        _keep_part(config, items)


def _keep_part(config, items):
    """Deselect the tests with an embedded cloud that are in other parts."""
    with_cloud = [item for item in items
                  if item.get_closest_marker('embedded_cloud')]
    modules = modules_of_part(
        collections.Counter(item.path for item in with_cloud),
        *read_part(config.option.part))
    others = {item for item in with_cloud if item.path not in modules}
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


def _order(item):
    shared = _cloud(item) == 1
    return _cloud(item), shared and repr(
        [*getattr(item.module, 'HOSTS', HOSTS)])


def _cloud(item):
    """0 means no cloud, 1 the shared cloud, 2 a separate cloud."""
    if 'own_cloud' in item.fixturenames:
        return 2
    return 1 if 'lend_cloud' in item.fixturenames else 0


@pytest.fixture(scope='session', autouse=True)
def _temporary_folder(tmp_path_factory):
    """Create pytest's folder before a cloud starts: a cloud deletes all
    temporary folders that are created while it runs."""
    tmp_path_factory.getbasetemp()


@pytest.fixture(scope='session')
def shared_cloud():
    """The cloud that modules use one after the other."""
    shared = SharedCloud()
    yield shared
    shared.stop()


@pytest.fixture(scope='session')
def lend_cloud(shared_cloud):
    """A function that returns the shared cloud as a context manager:
    ``lend_cloud(hosts, scheduler='holistic', options=None)``."""
    return shared_cloud.lend


@pytest.fixture(scope='session')
def own_cloud(shared_cloud):
    """A function that starts a new cloud and stops the shared one."""
    def own_cloud(hosts, **options):
        shared_cloud.stop()
        return PlannedCloud(hosts, **options)
    return own_cloud


@pytest.fixture
def start_cloud(own_cloud):
    """A function that starts a new cloud until the end of the test."""
    with contextlib.ExitStack() as stack:
        def start(hosts, **options):
            return stack.enter_context(own_cloud(hosts, **options))
        yield start


@pytest.fixture(scope='module')
def cloud_hosts():
    """The hosts of the shared cloud: those that tests of claims use."""
    return HOSTS


@pytest.fixture(scope='module')
def running(lend_cloud, cloud_hosts):
    """The shared cloud with the hosts of the module."""
    with lend_cloud(cloud_hosts) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    """The running cloud. After the test it is empty, all computes are
    enabled, and the options in ``OVERRIDDEN`` have their values again."""
    conf = running.conf
    values = [conf[group][name] for name, group in OVERRIDDEN]
    yield running
    for (name, group), value in zip(OVERRIDDEN, values):
        if conf[group][name] != value:
            conf.set_override(name, value, group=group)
    running.enable_computes()
    running.clear()


@pytest.fixture
def own_logging():
    """Restore the root logger after the test, because a command configures
    logging for the whole process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
