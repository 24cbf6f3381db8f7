# SPDX-License-Identifier: Apache-2.0
"""Start two clouds and a parent on this machine, until interrupted."""

import argparse
import contextlib
import queue
import signal
import tempfile

from tools.federation.forks import Forks
from tools.federation import processes

HOSTS = {'ams': [('ams-1', 'a', 8), ('ams-2', 'b', 8)],
         'dfw': [('dfw-1', 'a', 8), ('dfw-2', 'b', 8)]}
"""Hosts of each cloud: name, rack, VCPUs."""
PORT = 8790


def main():
    parser = argparse.ArgumentParser(
        prog='python -m tools.federation', description=__doc__)
    parser.add_argument('--port', type=int, default=PORT,
                        help='port of the parent (default: %(default)s)')
    arguments = parser.parse_args()
    # Unlike an Event, this queue permits that a handler interrupts the wait at
    # any time.
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, _: signals.put(number))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        forks = stack.enter_context(Forks(processes.CHILD))
        children = {}
        for name, hosts in HOSTS.items():
            children[name] = processes.start_child(
                hosts, folder, forks.start)
            stack.callback(children[name].stop)
        for each in children.values():
            each.wait_until_ready()
        parent = processes.start_parent(
            {name: each.url for name, each in children.items()}, folder,
            port=arguments.port)
        stack.callback(parent.stop)
        parent.wait_until_ready()
        print(f'The parent is at {parent.url}; interrupt this command to '
              'stop it and its clouds.', flush=True)
        signals.get()


if __name__ == '__main__':
    main()
