# SPDX-License-Identifier: Apache-2.0
"""Start and stop the processes of a federation."""

import json
import os
import subprocess
import sys

from nova_holistic import crash_points

CHILD, PARENT = 'tools.federation.child', 'tools.federation.parent'


class Process:
    """A service in a process that ends when its standard input ends.

    :ivar url: URL of its API; None until it is ready
    """

    def __init__(self, module, options, folder, crash_point=None):
        """Start the process.

        :param options: the argument of the module
        :param folder: folder of its log
        :param crash_point: crash point at which the process kills itself
        """
        environment = dict(os.environ)
        if crash_point is not None:
            environment[crash_points.VARIABLE] = crash_point
        self._log = open(log_path(module, folder), 'ab')
        self._process = subprocess.Popen(
            [sys.executable, '-m', module, json.dumps(options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            env=environment)
        self.url = None

    def wait_until_ready(self):
        line = self._process.stdout.readline()
        if not line:
            self.stop()
            raise RuntimeError(f'a process ended; see {self._log.name}')
        self.url = json.loads(line)['url']

    def wait_until_killed(self, seconds):
        """Wait until the process has killed itself at its crash point; return
        its exit code.

        :raises subprocess.TimeoutExpired: the process is still running after
            ``seconds``
        """
        return self._process.wait(seconds)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def stop(self):
        """End the process if it is still running."""
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process.stdout.close()
        self._log.close()


def log_path(module, folder):
    """The path of the log of a process."""
    return os.path.join(
        folder, f'{module.rpartition(".")[2]}-{os.getpid()}.log')


def start_process(options, folder, crash_point=None):
    """Start the process of a parent, which imports its modules. The arguments
    are those of ``Process``."""
    return Process(PARENT, options, folder, crash_point)


def start_child(hosts, folder, start, keystone=None):
    """Start the process of a child.

    :param hosts: (name, rack, VCPUs) of each host
    :param start: the method ``start`` of Forks of ``CHILD``
    :param keystone: see ``identity.with_tokens``
    """
    return start({'hosts': hosts, 'keystone': keystone}, folder)


def start_parent(children, folder, crash_point=None, start=start_process,
                 **options):
    """Start the process of a parent.

    :param children: URL of each child by its name
    :param folder: folder of the table, of the file of children and of the log
    :param start: see ``start_parent_of``
    :param options: options of [federation]; ``port`` is the port
    """
    port = options.pop('port', 0)
    return start_parent_of(
        [{'name': name, 'endpoint': url} for name, url in children.items()],
        folder, {'port': port, 'options': options}, crash_point, start)


def start_parent_of(children, folder, options, crash_point=None,
                    start=start_process):
    """Start the process of a parent.

    :param children: entries of the file of children
    :param folder: folder of the table, of the file of children and of the log
    :param options: argument of the module, without its folder and its children
    :param start: ``start_process``, or the method ``start`` of Forks
    """
    path = os.path.join(folder, 'children.json')
    with open(path, 'w') as file:
        json.dump({'children': children}, file)
    return start({
        **options, 'folder': str(folder),
        'options': {**options.get('options', {}), 'children': path}}, folder,
        crash_point)
