# SPDX-License-Identifier: Apache-2.0
"""One cloud of processes for all end-to-end tests."""

import os
import pathlib
import tempfile

import pytest

from tests.cloud.books import Books
from tests.cloud.command_line import CommandLine
from tests.cloud.groups import every_group
from tests.cloud.servers import Servers
from tools.cloud import catalog
from tools.cloud.cloud import Cloud, make
from tools.cloud.holistic import ENGINES
from tools.cloud.layout import Layout
from tools.cloud.waiting import wait_for

HOSTS = 50
RUNNING = 'NOVA_HOLISTIC_CLOUD'
"""Environment variable: directory of a cloud that is up, which the tests are
to use, and leave up."""


@pytest.fixture(scope='session')
def running(request):
    """The cloud, until the last test has ended; its directory stays where it
    did not start or a test failed."""
    if RUNNING in os.environ:
        yield Cloud(Layout.read(pathlib.Path(os.environ[RUNNING])))
        return
    # A short path, which the names of sockets are part of.
    cloud = make(pathlib.Path(tempfile.mkdtemp(prefix='cloud-')), HOSTS)
    print('cloud:', cloud.layout.directory)
    try:
        cloud.up()
        yield cloud
    finally:
        cloud.down()
    if not request.session.testsfailed:
        cloud.remove()


@pytest.fixture
def cloud(running):
    """The cloud, whatever the test before did to it; a test leaves no server,
    no group and no allocation."""
    admin = catalog.session(running.layout, catalog.ADMIN)
    make_whole(running, admin)
    yield running
    Servers(admin, everybody=True).delete_all()
    for group in every_group(admin):
        group.delete()
    Books(admin).assert_empty()


def make_whole(cloud, admin):
    """Returns when all engines are there, and every nova-compute has found
    the broker as it is now."""
    for name in ENGINES:
        if not cloud.processes.alive(name):
            cloud.services['holistic'].start_engine(name)
    since = cloud.processes.started('rabbitmq').isoformat()
    servers = Servers(admin)
    wait_for('every nova-compute',
             lambda: servers.hosts_up(since) == cloud.layout.hosts)


@pytest.fixture
def admin(cloud):
    return catalog.session(cloud.layout, catalog.ADMIN)


@pytest.fixture
def demo(cloud):
    return catalog.session(cloud.layout, catalog.MEMBER)


@pytest.fixture
def openstack(cloud):
    """The command line, as the user demo."""
    return CommandLine(cloud.layout, catalog.MEMBER)


@pytest.fixture
def openstack_admin(cloud):
    return CommandLine(cloud.layout, catalog.ADMIN)
