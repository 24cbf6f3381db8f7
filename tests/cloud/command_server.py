# SPDX-License-Identifier: Apache-2.0
"""The ``openstack`` command without the cost of its imports.

The imports take longer than most commands. Each command is a fork of one
process that has imported the modules that all commands need. The fork then
runs the code of the installed script, in a process with its own environment,
folder, arguments and streams.
"""

from dataclasses import dataclass
from importlib import import_module
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile

from stevedore import ExtensionManager

from tools.cloud.processes import scripts
from tools.forked_process import run_and_exit
from tools import garbage

_LARGEST = 1 << 17
"""Maximum number of bytes of a request. Linux sends it in one packet."""
_GROUPS = ('cliff.formatter.list', 'cliff.formatter.show',
           'keystoneauth1.plugin', 'openstack.holistic.v1')
"""Entry points that most commands load."""
_LATER = (
    'keystoneclient.v3.client', 'openstack.image.image_signer',
    'openstackclient.api.compute_v2', 'openstackclient.compute.v2.server',
    'openstackclient.image.v2.image')
"""Modules that a command imports only when it runs."""


@dataclass(frozen=True)
class Done:
    """:ivar returncode: exit status; the negative number of the signal if a
        signal ended the command"""

    returncode: int
    stdout: str
    stderr: str


def installed(words, environment, given, wait_seconds):
    """Run the installed script, which imports everything again.

    :param given: standard input
    :raises subprocess.TimeoutExpired: the script was killed at the timeout
    """
    process = subprocess.run(
        [scripts('openstack'), *words], env=environment, input=given,
        capture_output=True, text=True, timeout=wait_seconds, check=False)
    return Done(process.returncode, process.stdout, process.stderr)


class Parent:
    """The process that forks the commands; any thread may request commands.

    The context manager starts the process, and ends it with its commands.
    """

    def __enter__(self):
        self._ours, child_end = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_end:
            self._process = subprocess.Popen(
                [sys.executable, '-m', __name__, str(child_end.fileno())],
                pass_fds=[child_end.fileno()], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *failure):
        self._ours.close()
        self._process.wait()

    def run(self, words, environment, given, wait_seconds):
        """Run a command as :func:`installed` does, in a fork.

        :raises EOFError: the parent process has ended
        """
        with tempfile.TemporaryFile() as stdin, \
                tempfile.TemporaryFile() as stdout, \
                tempfile.TemporaryFile() as stderr:
            stdin.write(given.encode())
            stdin.seek(0)
            code = self._code(json.dumps([words, environment, os.getcwd()]),
                              (stdin, stdout, stderr), wait_seconds)
            return Done(code, _all(stdout), _all(stderr))

    def _code(self, request, streams, wait_seconds):
        answer, child_end = socket.socketpair()
        with answer:
            with child_end:
                socket.send_fds(self._ours, [request.encode()], [
                    each.fileno() for each in (*streams, child_end)])
            answer.settimeout(wait_seconds)
            try:
                code = answer.recv(16)
            except TimeoutError:
                # Closing the connection kills the command.
                raise subprocess.TimeoutExpired(
                    request, wait_seconds) from None
        if not code:
            raise EOFError('the parent of all commands has ended')
        return int(code)


def _all(stream):
    stream.seek(0)
    return stream.read().decode()


class _Forks:
    """Runs in the only thread of the parent process, which waits for all
    commands at the same time."""

    def __init__(self, requests):
        self._requests = requests
        self._poll = select.poll()
        self._poll.register(requests, select.POLLIN)
        self._commands = {}

    def serve(self):
        """Serve until all clients have closed their connections; then end the
        commands that still run."""
        while True:
            # Requests are handled first, because they were registered first.
            # So a file descriptor that a command returns is not reused in the
            # same round.
            for end, _ in self._poll.poll():
                if end != self._requests.fileno():
                    self._handle_event(end)
                elif not self._start():
                    self._kill_all()
                    return

    def _start(self):
        request, streams, _, _ = socket.recv_fds(
            self._requests, _LARGEST, 4)
        if not request:
            return False
        answer = socket.socket(fileno=streams.pop())
        pid = os.fork()
        if not pid:
            run_and_exit(lambda: self._run(*json.loads(request), streams))
        for each in streams:
            os.close(each)
        ended = os.pidfd_open(pid)
        for each in (ended, answer.fileno()):
            self._commands[each] = (pid, ended, answer)
            self._poll.register(each, select.POLLIN)
        return True

    def _handle_event(self, end):
        """Handle a command that has ended, or a client that no longer waits
        for it."""
        if end not in self._commands:
            # Both happened before this round: the command has ended, and the
            # client does not wait.
            return
        pid, ended, answer = self._commands[end]
        if end != ended:
            os.kill(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for each in (ended, answer.fileno()):
            self._poll.unregister(each)
            del self._commands[each]
        if end == ended:
            answer.send(str(code).encode())
        answer.close()
        os.close(ended)

    def _kill_all(self):
        for end, (_, ended, answer) in list(self._commands.items()):
            if end == answer.fileno():
                self._handle_event(end)

    def _run(self, words, environment, folder, streams):
        """Run a command in the current process; returns its exit status."""
        self._forget()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = [scripts('openstack'), *words]
        # As in the script that pip writes.
        from openstackclient.shell import main
        return main()

    def _forget(self):
        """Close, in a command, the descriptors of the parent and of other
        commands."""
        self._requests.close()
        for end in self._commands:
            os.close(end)


def _preload():
    """Import the modules of a command whose import has no side effects."""
    # The modules take the name of the program from here when they are
    # imported.
    sys.argv[0] = scripts('openstack')
    import_module('openstackclient.shell')
    for group in _GROUPS:
        ExtensionManager(group, on_load_failure_callback=_not_there)
    for name in _LATER:
        import_module(name)
    garbage.search_less()


def _not_there(manager, point, failure):
    """Ignore a failed import, because the command that needs the module
    reports it."""


if __name__ == '__main__':
    end = socket.socket(fileno=int(sys.argv[1]))
    _preload()
    _Forks(end).serve()
