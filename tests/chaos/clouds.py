# SPDX-License-Identifier: Apache-2.0
"""The cloud of the chaos runs: few hosts and short intervals."""

from collections.abc import Callable, Iterator
import contextlib
import pathlib
import tempfile

from keystoneauth1.adapter import Adapter

from tests.chaos.user_operations import LARGER
from tools.cloud.catalog import ADMIN, session
from tools.cloud.cloud import Cloud, make

HOSTS, RACK = 9, 3
_NOVA = {'DEFAULT': {
    # Nova's call fails after this time if its receiver was killed.
    'rpc_response_timeout': 20, 'report_interval': 5,
    'service_down_time': 60}}
_COMPUTE = {'DEFAULT': {
    **_NOVA['DEFAULT'],
    # Nova's default: it frees the capacity of deleted servers every minute.
    'update_resources_interval': 60}}
OPTIONS = {
    'nova.conf': _NOVA, 'compute.conf': _COMPUTE,
    'nova-holistic.conf': {
        'engine': {'heartbeat': 0.5, 'stale_after': 6, 'lease_interval': 2,
                   'reconcile_interval': 4},
        'reconciler': {'grace': 30, 'host_grace': 4, 'host_percent': 50,
                       'build_timeout': 60}}}


@contextlib.contextmanager
def chaos_cloud(is_kept: Callable[[], bool]) -> Iterator[Cloud]:
    """A running cloud.

    :param is_kept: whether its directory is kept; it is also kept if the cloud
        does not start
    """
    # The path must be short, because it is part of the names of sockets.
    cloud = make(pathlib.Path(tempfile.mkdtemp(prefix='chaos-')), HOSTS,
                 rack=RACK, options=OPTIONS, rare_searches=True)
    print('cloud:', cloud.layout.directory, flush=True)
    try:
        cloud.up()
        _add_flavor(cloud)
        yield cloud
    finally:
        # Only the logs are kept. An orderly stop would take half a minute.
        for name in cloud.processes.names():
            cloud.processes.kill(name)
    if not is_kept():
        cloud.remove()


def _add_flavor(cloud: Cloud) -> None:
    """Create the flavor to which servers of the flavor ``large`` are
    resized."""
    Adapter(session(cloud.layout, ADMIN), service_type='compute').post(
        '/flavors', json={'flavor': {
            'id': LARGER, 'name': LARGER, 'vcpus': 12, 'ram': 16384,
            'disk': 100}})
