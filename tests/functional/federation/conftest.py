# SPDX-License-Identifier: Apache-2.0
"""Three clouds in separate processes, for all tests of a federation."""

import contextlib

import pytest

from tests.functional.federation.proxy import Proxy
from tests.functional.federation.world import Cloud, HOSTS, Parent
from tools.federation.forks import Forks
from tools.federation import processes


@pytest.fixture(scope='package')
def cloud_forks():
    with Forks(processes.CHILD) as forks:
        yield forks


@pytest.fixture(scope='package')
def clouds(cloud_forks, tmp_path_factory):
    """Three clouds by their names."""
    with contextlib.ExitStack() as stack:
        started = {}
        for name, hosts in HOSTS.items():
            process = processes.start_child(
                hosts, tmp_path_factory.mktemp(name), cloud_forks.start)
            stack.callback(process.stop)
            started[name] = process
        for process in started.values():
            process.wait_until_ready()
        yield {name: Cloud(name, process)
               for name, process in started.items()}


@pytest.fixture
def proxies(clouds):
    """A proxy in front of each cloud. It loses the requests and responses that
    a test selects."""
    with contextlib.ExitStack() as stack:
        found = {name: Proxy(cloud.url) for name, cloud in clouds.items()}
        for each in found.values():
            stack.callback(each.stop)
        yield found


@pytest.fixture(scope='package')
def forks():
    with Forks(processes.PARENT) as forks:
        yield forks


@pytest.fixture
def start_parent(clouds, forks, tmp_path):
    """A function that starts a parent of the clouds. Parents with the same
    folder use the same table."""
    with contextlib.ExitStack() as stack:
        def start(folder='parent', children=None, crash_point=None,
                  **options):
            (tmp_path / folder).mkdir(exist_ok=True)
            process = processes.start_parent(
                children or {name: cloud.url
                             for name, cloud in clouds.items()},
                tmp_path / folder, crash_point, forks.start,
                **{'refresh_interval': 0.0, 'task_timeout': 1,
                   'commit_lease': 15, **options})
            stack.callback(process.stop)
            process.wait_until_ready()
            return Parent(process)

        yield start


@pytest.fixture(autouse=True)
def _nothing_is_left(clouds):
    """Assert that the test has deleted its groups and servers, and that
    Placement has exactly the allocations of servers and holds."""
    yield
    reports = {name: cloud.settled_report()
               for name, cloud in clouds.items()}
    for cloud in clouds.values():
        cloud.delete_servers()
    assert {name: (each['differences'], each['used'])
            for name, each in reports.items()} == dict.fromkeys(
                clouds, ([], 0))
