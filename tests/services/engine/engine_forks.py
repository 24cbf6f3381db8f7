# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-engine`` without the cost of its imports.

The imports take more than a second of processor time. Each engine is a fork of
one process that has imported them. The fork then runs the entry point of the
installed script, in a process group with its own log, arguments and crash
point.
"""

import importlib
import json
import os
import select
import subprocess
import sys

from nova_holistic.cli import engine
from nova_holistic import crash_points, objectives, policies
from tests.compiled_table import compile_statements
from tests.services.background_processes import Process
from tools.forked_process import run_and_exit
from tools import garbage


class Engines:
    """The process that forks. The context manager starts it, and ends it when
    all engines have ended."""

    def __enter__(self):
        self._server = subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', __name__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *failure):
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def start(self, arguments, log, crash_point=None):
        """Start an engine; returns its Process.

        :param arguments: arguments of the command
        :param log: file for the output of the engine
        :param crash_point: crash point at which the engine kills itself
        """
        return _Engine(self._ask, [*map(str, arguments)], log, crash_point)

    def _ask(self, *request):
        print(json.dumps(request), file=self._server.stdin, flush=True)
        answer = self._server.stdout.readline()
        if not answer:
            raise RuntimeError('the process that forks has ended')
        return int(answer)


class _Engine(Process):
    """An engine that another process has forked."""

    def __init__(self, ask, arguments, log, crash_point):
        self.log = log
        # A test may read the log before the fork writes it.
        log.touch()
        self._process = _Child(
            ask(arguments, str(log), crash_point), ask)


class _Child:
    """A process of another parent, with some methods of ``Popen``.

    :param reap: returns the exit code of a process that has ended
    """

    def __init__(self, pid, reap):
        self.pid = pid
        self._reap = reap
        self._end = os.pidfd_open(pid)
        self._code = None

    def poll(self):
        if self._code is None and select.select([self._end], [], [], 0)[0]:
            self._code = self._reap(self.pid)
            os.close(self._end)
        return self._code

    def wait(self, timeout):
        if self._code is None:
            select.select([self._end], [], [], timeout)
            if self.poll() is None:
                raise subprocess.TimeoutExpired(engine.PROGRAM, timeout)
        return self._code


def _serve():
    """Answer each line of standard input, until it ends. A list with a number
    is the ID of an engine that has ended, and the answer is its exit code.
    Another list starts an engine, and the answer is its ID."""
    for line in sys.stdin:
        request = json.loads(line)
        if len(request) == 1:
            status = os.waitpid(request[0], 0)[1]
            print(os.waitstatus_to_exitcode(status), flush=True)
        else:
            print(_fork(*request), flush=True)


def _fork(arguments, log, crash_point):
    pid = os.fork()
    if not pid:
        run_and_exit(lambda: _run(arguments, log, crash_point))
    # Tests signal the group, perhaps before the engine runs.
    os.setpgid(pid, pid)
    return pid


def _run(arguments, log, crash_point):
    """Run the command in the current process; returns its exit status."""
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream, number in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(stream, number)
    os.environ[crash_points.VARIABLE] = crash_point or ''
    importlib.reload(crash_points)
    sys.argv = [engine.PROGRAM, *arguments]
    return engine.main()


def _preload():
    """Import what an engine imports only when it plans."""
    policies.load_policy_types()
    objectives.load_objective('spread')
    for name in ('nova_holistic.inventory.file', 'psycopg2',
                 'oslo_messaging._drivers.impl_fake'):
        importlib.import_module(name)
    compile_statements()
    garbage.search_less()


if __name__ == '__main__':
    _preload()
    _serve()
