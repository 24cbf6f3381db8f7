# SPDX-License-Identifier: Apache-2.0
"""Programs of the project without the cost of their imports.

The imports of a program take seconds of processor time. Each run is a fork of
one process that has imported the programs.
"""

from dataclasses import dataclass
import importlib
import json
import os
import subprocess
import sys
import tempfile

from nova_holistic.cli import programs
from tools.forked_process import run_and_exit

_LATER = {'scheduler': ['nova_holistic.scheduler.lookup']}
"""Modules that a program imports after it has read its configuration. Their
import does not depend on it."""


@dataclass(frozen=True)
class Done:
    """The exit status and the output of a program that has ended."""

    returncode: int
    stdout: str
    stderr: str


class Programs:
    """The process that forks. The context manager starts it, and ends it.

    :param names: programs that run, such as ``engine`` for
        ``nova-holistic-engine``
    """

    def __init__(self, *names):
        self._names = names

    def __enter__(self):
        self._server = subprocess.Popen(
            [sys.executable, '-m', __name__, *self._names],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *failure):
        try:
            self._server.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            # A program has not ended.
            self._server.kill()
            self._server.communicate()

    def run(self, name, words, folder, nova=None):
        """Run a program until it ends.

        :param words: its arguments
        :param folder: the folder in which it runs
        :param nova: the version that Nova reports, if it is not the true one
        """
        print(json.dumps([name, [*map(str, words)], str(folder), nova]),
              file=self._server.stdin, flush=True)
        return Done(*json.loads(self._server.stdout.readline()))


def _serve(names):
    for name in names:
        for module in (f'nova_holistic.cli.{name}', *_LATER.get(name, ())):
            importlib.import_module(module)
    for line in sys.stdin:
        name, words, folder, nova = json.loads(line)
        with tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:
            pid = os.fork()
            if not pid:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                os.chdir(folder)
                if nova is not None:
                    _report_version(nova)
                sys.argv[1:] = words
                run_and_exit(getattr(programs, name))
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            print(json.dumps([code, *map(_text, (out, err))]), flush=True)


def _report_version(nova):
    from nova import version
    version.version_string = lambda: nova


def _text(file):
    file.seek(0)
    return file.read().decode()


if __name__ == '__main__':
    _serve(sys.argv[1:])
