# SPDX-License-Identifier: Apache-2.0
"""Processes of one module without the cost of its imports.

The imports of a parent take two seconds of processor time, and those of a
child take four. Each process is a fork of one process that has imported the
module. The fork then runs as ``python -m MODULE OPTIONS`` does: with its own
standard streams, and with the crash point that its environment variable names.
"""

import importlib
import json
import os
import select
import signal
import subprocess
import sys

from nova_holistic import crash_points
from tools.federation.processes import log_path
from tools.forked_process import run_and_exit
from tools import garbage


class Forks:
    """The process that has imported a module and forks. The context manager
    starts it, and ends it when all of its forks have ended.

    :param module: a module with a function ``main``; a function ``preload`` is
        called once, before the first fork
    """

    def __init__(self, module):
        self._module = module

    def __enter__(self):
        self._server = subprocess.Popen(
            [sys.executable, '-m', __name__, self._module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *failure):
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def start(self, options, folder, crash_point=None):
        """Start a process.

        :param options: the argument of the module
        :param folder: folder of its log
        :param crash_point: crash point at which the process kills itself
        :raises RuntimeError: the process that forks has ended
        """
        return _Fork(self._ask, options, crash_point,
                     log_path(self._module, folder))

    def _ask(self, request):
        self._server.stdin.write(json.dumps(request).encode() + b'\n')
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        if not answer:
            raise RuntimeError('the process that forks has ended')
        return int(answer)


class _Fork:
    """A process with the methods of ``processes.Process``.

    Only the process itself can write to its standard output, so this output
    ends with the process.
    """

    def __init__(self, ask, options, crash_point, log):
        self._ask = ask
        self._log = log
        child_in, self._stdin = os.pipe()
        self._stdout, child_out = os.pipe()
        # The server has opened both ends when it responds.
        self._pid = ask([options, crash_point, *(
            f'/proc/{os.getpid()}/fd/{end}' for end in (child_in, child_out)),
            log])
        os.close(child_in)
        os.close(child_out)
        self._code = None
        self.url = None

    def wait_until_ready(self):
        line = b''
        while not line.endswith(b'\n'):
            byte = os.read(self._stdout, 1)
            if not byte:
                self.stop()
                raise RuntimeError(f'a process ended; see {self._log}')
            line += byte
        self.url = json.loads(line)['url']

    def wait_until_killed(self, seconds):
        """Wait until the process has killed itself at its crash point; return
        its exit code.

        :raises subprocess.TimeoutExpired: the process is still running after
            ``seconds``
        """
        while self._code is None:
            if not select.select([self._stdout], [], [], seconds)[0]:
                raise subprocess.TimeoutExpired(self._log, seconds)
            if not os.read(self._stdout, 4096):
                self._code = self._ask(self._pid)
        return self._code

    def kill(self):
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)
            self.wait_until_killed(None)

    def stop(self):
        """End the process if it is still running. Later calls have no effect.
        """
        if self._stdin is None:
            return
        os.close(self._stdin)
        self._stdin = None
        try:
            self.wait_until_killed(30)
        except subprocess.TimeoutExpired:
            self.kill()
        os.close(self._stdout)


def _serve(module):
    """Answer each line of standard input, until it ends. A number is the ID of
    a fork that has ended, and the answer is its exit code. A list starts a
    fork, and the answer is its ID."""
    # An interrupt of the terminal reaches all its processes. These end when
    # their standard input ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    garbage.search_rarely()
    imported = importlib.import_module(module)
    getattr(imported, 'preload', lambda: None)()
    garbage.search_less()
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            print(_exit_code(request), flush=True)
        else:
            options, *others = request
            sys.argv = [module, json.dumps(options)]
            print(_fork(imported.main, *others), flush=True)


def _exit_code(pid):
    """Wait until a fork has ended. A negative number is a signal."""
    # In a process of Nova, os.waitpid would start the hub of green threads,
    # which later forks would share.
    end = os.waitid(os.P_PID, pid, os.WEXITED)
    return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status


def _fork(main, crash_point, read_from, write_to, log):
    streams = (os.open(read_from, os.O_RDONLY),
               os.open(write_to, os.O_WRONLY),
               os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND))
    pid = os.fork()
    if not pid:
        run_and_exit(lambda: _run(main, crash_point, streams))
    for each in streams:
        os.close(each)
    return pid


def _run(main, crash_point, streams):
    """Run the function in the current process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if crash_point is not None:
        os.environ[crash_points.VARIABLE] = crash_point
    importlib.reload(crash_points)
    main()


def _wait_for_forks():
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


if __name__ == '__main__':
    _serve(sys.argv[1])
    _wait_for_forks()
