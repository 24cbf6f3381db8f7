# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.cloud.computes DIRECTORY``: one process of nova-compute
for each host of the cloud.

All processes are forks of one process that has loaded Nova, and share the
memory that they only read. The process ID of each is in the file ``pid`` of
the state of its host. SIGHUP to the first process restarts the processes that
have ended, except those with a file ``down`` next to ``pid``. A process
that fails is restarted immediately, as by a service manager. It fails, for
example, if no conductor responds while it starts.
"""

from collections.abc import Iterable
import contextlib
import gc
import importlib
import os
import pathlib
import signal
import sys
import time
import traceback

# This import comes first: it decides on the threading of the process.
from nova.cmd import compute

import os_vif

from nova import conf
from nova import config
from nova import objects

from tools.cloud.compute_files import down_file, pid_file
from tools.cloud.layout import Layout, write

_PACE = 0.1
"""Seconds between two starts. Processes that start at the same time delay each
other."""
_RESTART = 1.0
"""Seconds before a failed process is started again."""
_SIGNALS = (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM)
_LATER = (
    'nova.compute.manager', 'nova.network.neutron', 'nova.image.glance',
    'nova.volume.cinder', 'nova.scheduler.client.report',
    'nova.servicegroup.drivers.db', 'keystoneauth1.identity.generic',
    'keystoneauth1.loading._plugins.identity.generic',
    'oslo_messaging._drivers.impl_rabbit', 'kombu.transport.pyamqp')
"""Modules that nova-compute would import only after its start."""


def main(directory: str) -> None:
    layout = Layout.read(pathlib.Path(directory))
    common = layout.configuration('nova') / 'compute.conf'
    _load(common)
    children: dict[int, str] = {}
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    _start(layout, common, children, layout.host_names())
    while children:
        number = signal.sigwait(_SIGNALS)
        if number == signal.SIGTERM:
            _terminate(children)
        elif number == signal.SIGHUP:
            _reap(children)
            _start(layout, common, children, layout.host_names())
        elif failed := _reap(children):
            time.sleep(_RESTART)
            _start(layout, common, children, failed)


def _start(layout: Layout, common: pathlib.Path, children: dict[int, str],
           hosts: Iterable[str]) -> None:
    """Start nova-compute on each of these hosts where it is not running."""
    for host in hosts:
        if host in children.values() or down_file(layout, host).exists():
            continue
        child = os.fork()
        if not child:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            _serve(layout, common, host)
        children[child] = host
        pid_file(layout, host).write_text(str(child))
        time.sleep(_PACE)


def _reap(children: dict[int, str]) -> list[str]:
    """Remove the processes that have ended from ``children``.

    :returns: the hosts of the processes that failed, but not of those that
        were killed
    """
    failed = []
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            host = children.pop(pid)
            print(f'{host} ended with {status}', flush=True)
            if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                failed.append(host)
    return failed


def _load(common: pathlib.Path) -> None:
    """Import everything that nova-compute needs, and prepare the process for
    forks."""
    # Some decorators read options while their module is imported.
    config.parse_args(['nova-compute', '--config-file', str(common)],
                      configure_db=False, init_rpc=False)
    for name in _LATER:
        importlib.import_module(name)
    objects.register_all()
    os_vif.initialize()
    from nova.virt import fake
    from tools.cloud.hypervisor import Hypervisor
    # Nova searches for drivers only below nova.virt.
    fake.Hypervisor = Hypervisor
    # A child reads the options again, including those of its host.
    conf.CONF.clear()
    # Otherwise, the garbage collector would write to every shared page.
    gc.collect()
    gc.freeze()


def _serve(layout: Layout, common: pathlib.Path, host: str) -> None:
    """Run as the nova-compute of a host; never returns."""
    status = 1
    try:
        state = layout.state(host)
        log = os.open(layout.log(host), os.O_WRONLY | os.O_CREAT
                      | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        own = write(state / 'host.conf', {'DEFAULT': {
            'host': host, 'state_path': state,
            'compute_driver': 'fake.Hypervisor'}})
        sys.argv = ['nova-compute', '--config-file', str(common),
                    '--config-file', str(own)]
        compute.main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _terminate(children: dict[int, str]) -> None:
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)


if __name__ == '__main__':
    main(sys.argv[1])
