# SPDX-License-Identifier: Apache-2.0
"""The cloud of the chaos runs: few hosts, and short waits."""

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
    # Nova gives up a call whose receiver was killed.
    'rpc_response_timeout': 20, 'report_interval': 5,
    'service_down_time': 60}}
_COMPUTE = {'DEFAULT': {
    **_NOVA['DEFAULT'],
    # As by default: Nova frees the room of deleted servers every minute.
    'update_resources_interval': 60}}
OPTIONS = {
    'nova.conf': _NOVA, 'compute.conf': _COMPUTE,
    'nova-holistic.conf': {
        'engine': {'heartbeat': 0.5, 'stale_after': 6, 'lease_interval': 2,
                   'reconcile_interval': 2},
        'reconciler': {'grace': 30, 'host_grace': 4, 'host_percent': 50,
                       'build_timeout': 60}}}


@contextlib.contextmanager
def chaos_cloud(is_kept: Callable[[], bool]) -> Iterator[Cloud]:
    """A cloud that is up.

    :param is_kept: whether its directory remains; it does if the cloud does
        not start
    """
    # A short path, which the names of sockets are part of.
    cloud = make(pathlib.Path(tempfile.mkdtemp(prefix='chaos-')), HOSTS,
                 rack=RACK, options=OPTIONS)
    print('cloud:', cloud.layout.directory, flush=True)
    try:
        cloud.up()
        _add_flavor(cloud)
        yield cloud
    finally:
        # Only the logs are kept; an orderly end takes half a minute.
        for name in cloud.processes.names():
            cloud.processes.kill(name)
    if not is_kept():
        cloud.remove()


def _add_flavor(cloud: Cloud) -> None:
    """To which a server of the flavor ``large`` is resized."""
    Adapter(session(cloud.layout, ADMIN), service_type='compute').post(
        '/flavors', json={'flavor': {
            'id': LARGER, 'name': LARGER, 'vcpus': 12, 'ram': 16384,
            'disk': 100}})
