# SPDX-License-Identifier: Apache-2.0
"""Every process of a cloud is in a group that has a name, and the group is
found again by whoever comes later; nothing else is ever sent a signal."""

from collections.abc import Iterable, Mapping, Sequence
import datetime
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig

from tools.cloud.layout import Layout
from tools.cloud.waiting import wait_for, WaitTimeout

PROJECT = pathlib.Path(__file__).parents[2]
_WAIT_SECONDS = 30
"""Seconds after which a process that was asked to end is killed."""


class Processes:
    def __init__(self, layout: Layout):
        self._layout = layout
        self._children: dict[str, subprocess.Popen] = {}

    def start(self, name: str, arguments: Sequence[object],
              environment: Mapping[str, str] | None = None) -> None:
        """Start a command that stays, with a log of its own name."""
        with open(self._layout.log(name), 'ab') as log:
            child = subprocess.Popen(
                [str(a) for a in arguments], stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                cwd=self._layout.state(name),
                env=self._environment(environment))
        self._children[name] = child
        self._file(name).write_text(
            f'{child.pid} {_started_at(child.pid)}')

    def run(self, name: str, arguments: Sequence[object],
            environment: Mapping[str, str] | None = None) -> None:
        """Run a command to its end.

        :raises WaitTimeout: it failed; its last output is reported
        """
        log = self._layout.log(name)
        with open(log, 'ab') as said:
            code = subprocess.run(
                [str(a) for a in arguments], stdin=subprocess.DEVNULL,
                stdout=said, stderr=subprocess.STDOUT, check=False,
                cwd=self._layout.state(name),
                env=self._environment(environment)).returncode
        if code:
            raise WaitTimeout(f'{name} ended with {code}: {self.said(name)}')

    def said(self, name: str) -> str:
        """The last lines of its log."""
        log = self._layout.log(name)
        return log.read_text(errors='replace')[-2000:] if log.exists() else ''

    def names(self) -> list[str]:
        """All that were started and not ended, in the order they were."""
        return [file.stem for file in sorted(
            self._layout.state('processes').glob('*.pid'),
            key=lambda file: file.stat().st_mtime_ns)]

    def started(self, name: str) -> datetime.datetime:
        """When it was, the last time."""
        return datetime.datetime.fromtimestamp(
            self._file(name).stat().st_mtime, datetime.timezone.utc)

    def leader(self, name: str) -> int:
        """Number of the first process of a group that was started."""
        return int(self._file(name).read_text().split()[0])

    def alive(self, name: str) -> bool:
        """Whether any process of the group is there."""
        return bool(self._members(name))

    def end(self, names: Iterable[str]) -> None:
        """Tell all of them to end, and kill those that do not."""
        names = list(names)
        for name in names:
            self.send(name, signal.SIGTERM)
        for name in names:
            try:
                wait_for(f'end of {name}', lambda: not self.alive(name),
                         _WAIT_SECONDS)
            except WaitTimeout:
                pass
            self.kill(name)

    def kill(self, name: str) -> None:
        """As a machine that loses power."""
        self.send(name, signal.SIGKILL)
        wait_for(f'end of {name}', lambda: not self.alive(name), _WAIT_SECONDS)
        self._file(name).unlink(missing_ok=True)

    def send(self, name: str, number: int) -> None:
        for pid in self._members(name):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def _members(self, name: str) -> list[int]:
        """Processes of the group that have not ended."""
        child = self._children.get(name)
        if child is not None:
            child.poll()
        file = self._file(name)
        if not file.exists():
            return []
        leader, started_at = map(int, file.read_text().split())
        if _started_at(leader) not in (started_at, None):
            # The number has been given to another process since.
            return []
        return _of_group(leader)

    def _file(self, name: str) -> pathlib.Path:
        return self._layout.state('processes') / f'{name}.pid'

    def _environment(self, more: Mapping[str, str] | None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items()
                if name in ('HOME', 'USER', 'LOGNAME', 'TMPDIR')}
        return kept | {
            'PATH': os.pathsep.join((scripts(''), os.environ['PATH'],
                                     '/usr/sbin', '/sbin')),
            'LANG': 'C.UTF-8', 'PYTHONPATH': str(PROJECT), **(more or {})}


def scripts(name: str) -> str:
    """Path of a command beside the Python that runs this."""
    return os.path.join(sysconfig.get_path('scripts'), name)


def shared(*names: str) -> pathlib.Path:
    """Path of a file that a wheel put under the prefix."""
    return pathlib.Path(sys.prefix, *names)


def _of_group(group: int) -> list[int]:
    """Numbers of its processes, but for those that only wait for their
    parent to hear of their end."""
    found = []
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        state, _, process_group = (_facts(int(folder.name)) or 'X--')[:3]
        if process_group == str(group) and state not in 'ZX':
            found.append(int(folder.name))
    return found


def _started_at(pid: int) -> int | None:
    """When a process was started, in ticks since the machine was."""
    facts = _facts(pid)
    return int(facts[19]) if facts else None


def _facts(pid: int) -> list[str] | None:
    """Of /proc/PID/stat, what follows the name; see proc(5)."""
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return None
    # The name, in parentheses, may have any character in it.
    return stat.rpartition(')')[2].split()
