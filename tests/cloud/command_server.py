# SPDX-License-Identifier: Apache-2.0
"""``openstack`` without its imports, which cost more than most commands do:
each command is a fork of one process that has imported what they all need.

What a command does begins where that of the installed script begins, in a
process, with an environment, a folder, arguments and streams of its own.
"""

from dataclasses import dataclass
import gc
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

_LARGEST = 1 << 17
"""Bytes of a request; Linux has room for it in one packet."""
_GROUPS = ('cliff.formatter.list', 'cliff.formatter.show',
           'keystoneauth1.plugin', 'openstack.holistic.v1')
"""Entry points that most commands load."""
_LATER = (
    'keystoneclient.v3.client', 'openstack.image.image_signer',
    'openstackclient.api.compute_v2', 'openstackclient.compute.v2.server',
    'openstackclient.image.v2.image')
"""What a command imports no sooner than it is run."""


@dataclass(frozen=True)
class Done:
    """
    :ivar returncode: as subprocess has it, below zero for a signal
    """

    returncode: int
    stdout: str
    stderr: str


def installed(words, environment, given, wait_seconds):
    """The script itself, which imports all anew.

    :param given: text that it reads
    :raises subprocess.TimeoutExpired: it was killed at the time limit
    """
    done = subprocess.run(
        [scripts('openstack'), *words], env=environment, input=given,
        capture_output=True, text=True, timeout=wait_seconds, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


class Parent:
    """The process that is forked; any thread may ask it for commands.

    Whoever enters starts it, and whoever leaves ends it and its commands.
    """

    def __enter__(self):
        self._ours, theirs = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, '-m', __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *failure):
        self._ours.close()
        self._process.wait()

    def run(self, words, environment, given, wait_seconds):
        """As :func:`installed`, in a fork.

        :raises EOFError: the parent has ended
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
        answer, theirs = socket.socketpair()
        with answer:
            with theirs:
                socket.send_fds(self._ours, [request.encode()], [
                    each.fileno() for each in (*streams, theirs)])
            answer.settimeout(wait_seconds)
            try:
                said = answer.recv(16)
            except TimeoutError:
                # To close this is to have the command killed.
                raise subprocess.TimeoutExpired(
                    request, wait_seconds) from None
        if not said:
            raise EOFError('the parent of all commands has ended')
        return int(said)


def _all(stream):
    stream.seek(0)
    return stream.read().decode()


class _Forks:
    """In the parent: one thread, that waits for all at once."""

    def __init__(self, requests):
        self._requests = requests
        self._poll = select.poll()
        self._poll.register(requests, select.POLLIN)
        self._commands = {}

    def serve(self):
        """Until nobody can ask any more; ends what still runs."""
        while True:
            # Requests come first, as they were registered: a number that a
            # command gives back is given to none of the same round.
            for end, _ in self._poll.poll():
                if end != self._requests.fileno():
                    self._look_at(end)
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
            self._forget()
            _be(*json.loads(request), streams)
        for each in streams:
            os.close(each)
        ended = os.pidfd_open(pid)
        for each in (ended, answer.fileno()):
            self._commands[each] = (pid, ended, answer)
            self._poll.register(each, select.POLLIN)
        return True

    def _look_at(self, end):
        """A command has ended, or its client no longer waits for it."""
        if end not in self._commands:
            # It has, and he does not: both were told at once.
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
                self._look_at(end)

    def _forget(self):
        """In a command: whatever is the parent's or another command's."""
        self._requests.close()
        for end in self._commands:
            os.close(end)


def _be(words, environment, folder, streams):
    """The command; never returns."""
    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = [scripts('openstack'), *words]
        _script()
    except SystemExit as end:
        status = _status(end.code)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _script():
    """What is in the script that pip writes."""
    from openstackclient.shell import main
    sys.exit(main())


def _status(code):
    """As Python ends with it."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xff
    print(code, file=sys.stderr)
    return 1


def _warm():
    """Import what a command does, as far as that starts nothing."""
    # Its name in what it says is taken from here as it is imported.
    sys.argv[0] = scripts('openstack')
    import_module('openstackclient.shell')
    for group in _GROUPS:
        ExtensionManager(group, on_load_failure_callback=_not_there)
    for name in _LATER:
        import_module(name)
    # Else the collector would write to every page that is shared.
    gc.collect()
    gc.freeze()


def _not_there(manager, point, failure):
    """What cannot be imported is for a command to complain of."""


if __name__ == '__main__':
    end = socket.socket(fileno=int(sys.argv[1]))
    _warm()
    _Forks(end).serve()
