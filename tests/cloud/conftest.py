# SPDX-License-Identifier: Apache-2.0
"""One cloud of processes for all end-to-end tests."""

import os
import pathlib
import tempfile

import pytest

from tests.cloud.command_line import CommandLine
from tests.cloud.command_server import installed, Parent
from tests.cloud.groups import every_group
from tests.cloud.servers import Servers
from tests.cloud.sizes import SIZES
from tests.cloud.usage_accounts import assert_empty
from tools.cloud import catalog
from tools.cloud.cloud import Cloud, make
from tools.cloud.holistic import ENGINES
from tools.cloud.layout import Layout
from tools.cloud.waiting import wait_for

RUNNING = 'NOVA_HOLISTIC_CLOUD'
"""Environment variable with the directory of a running cloud. The tests use
this cloud and do not stop it."""
ORDER = ('test_chaos', 'test_command_server', 'test_recovery', 'test_access',
         'test_federation', 'test_slow_clients', 'test_first_server',
         'test_boot', 'test_engine_boot', 'test_race', 'test_many_clients')
"""The order of the modules. The tests with a separate cloud come first, so
that two clouds never run at the same time. Tests that need no nova-compute run
while each nova-compute connects to the restarted broker. The tests that leave
the most servers to delete come last."""


def pytest_collection_modifyitems(items):
    """Sort the modules of this folder; the modules of other folders keep their
    positions."""
    own = [at for at, item in enumerate(items) if _name(item) in ORDER]
    ordered = sorted((items[at] for at in own),
                     key=lambda item: ORDER.index(_name(item)))
    for at, item in zip(own, ordered):
        items[at] = item


def _name(item):
    return item.module.__name__.rpartition('tests.cloud.')[2]


@pytest.fixture(scope='session')
def size(request):
    """The size of the tests."""
    return SIZES[request.config.getoption('effort')]


@pytest.fixture(scope='session')
def running(request, size):
    """The running cloud, until the last test has ended. Its directory is kept
    if the cloud does not start or a test fails."""
    if RUNNING in os.environ:
        cloud = Cloud(Layout.read(pathlib.Path(os.environ[RUNNING])))
        yield cloud
        clear(cloud.layout)
        return
    # The path must be short, because it is part of the names of sockets.
    cloud = make(pathlib.Path(tempfile.mkdtemp(prefix='cloud-')), size.hosts,
                 rack=size.rack, rare_searches=True)
    print('cloud:', cloud.layout.directory)
    try:
        cloud.up()
        yield cloud
    finally:
        # Only the logs are kept. An orderly stop would take half a minute.
        for name in cloud.processes.names():
            cloud.processes.kill(name)
    if not request.session.testsfailed:
        cloud.remove()


@pytest.fixture
def cloud(running):
    """The cloud without servers, groups and allocations of earlier tests."""
    for name in ENGINES:
        if not running.processes.alive(name):
            running.services['holistic'].start_engine(name)
    clear(running.layout)
    return running


def clear(layout):
    """Delete everything that a test has left, and wait until it is gone."""
    admin = catalog.session(layout, catalog.ADMIN)
    Servers(admin, everybody=True).delete()
    for group in every_group(admin):
        group.delete()
    assert_empty(layout)


@pytest.fixture
def computes(cloud, admin):
    """Wait until every nova-compute is connected to the broker."""
    since = cloud.processes.started('rabbitmq').isoformat()
    servers = Servers(admin)
    wait_for('every nova-compute',
             lambda: servers.hosts_up(since) == cloud.layout.hosts, pause=1)


@pytest.fixture
def admin(cloud):
    return catalog.session(cloud.layout, catalog.ADMIN)


@pytest.fixture
def demo(cloud):
    return catalog.session(cloud.layout, catalog.MEMBER)


@pytest.fixture(scope='session')
def commands():
    """Runs the ``openstack`` command with its imports shared."""
    with Parent() as parent:
        yield parent.run


@pytest.fixture
def as_user(cloud, commands):
    """A function that returns the command line of a user."""
    return lambda user: CommandLine(cloud.layout, user, commands)


@pytest.fixture
def openstack(as_user):
    """The command line of the user demo."""
    return as_user(catalog.MEMBER)


@pytest.fixture
def openstack_admin(as_user):
    return as_user(catalog.ADMIN)


@pytest.fixture
def installed_openstack(cloud):
    """The script that pip installed, for the user demo."""
    return CommandLine(cloud.layout, catalog.MEMBER, installed)
