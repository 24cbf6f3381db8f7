# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-scheduler`` without the cost of its imports.

The imports take seconds of processor time. Each service is a fork of one
process that has imported them.
"""

from dataclasses import dataclass
import json
import os
import subprocess
import sys
import tempfile

from tools.forked_process import run_and_exit


@dataclass(frozen=True)
class Done:
    """The exit status and the output of a service that has ended."""

    returncode: int
    stdout: str
    stderr: str


class Services:
    """The process that forks. The context manager starts it, and ends it."""

    def __enter__(self):
        self._server = subprocess.Popen(
            [sys.executable, '-m', __name__], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *failure):
        self._server.communicate()

    def run(self, config, nova=None):
        """Run a service until it ends.

        :param config: its configuration file
        :param nova: the version that Nova reports, if it is not the true one
        """
        print(json.dumps([str(config), nova]), file=self._server.stdin,
              flush=True)
        return Done(*json.loads(self._server.stdout.readline()))


def _serve():
    # This import comes late: it decides on the threading of its process.
    from nova_holistic.cli.scheduler import main
    for line in sys.stdin:
        config, nova = json.loads(line)
        with tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:
            pid = os.fork()
            if not pid:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                if nova is not None:
                    _report_version(nova)
                sys.argv[1:] = ['--config-file', config]
                run_and_exit(main)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            print(json.dumps([code, *map(_text, (out, err))]), flush=True)


def _report_version(nova):
    from nova import version
    version.version_string = lambda: nova


def _text(file):
    file.seek(0)
    return file.read().decode()


if __name__ == '__main__':
    _serve()
