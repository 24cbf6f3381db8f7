# SPDX-License-Identifier: Apache-2.0
"""The processes of a cloud, in named process groups.

The leader of each group is stored in a file, so a later process can find the
group. Signals are sent only to these groups.
"""

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
_RARE_SEARCHES = pathlib.Path(__file__).with_name('rare_searches')
"""The folder of a module that Python imports at the start of a process."""
_WAIT_SECONDS = 30
"""Seconds between SIGTERM and SIGKILL, and maximum wait after SIGKILL."""


class Processes:
    def __init__(self, layout: Layout):
        self._layout = layout
        self._children: dict[str, subprocess.Popen] = {}

    def start(self, name: str, arguments: Sequence[object],
              environment: Mapping[str, str] | None = None) -> None:
        """Start a background process with a log of that name."""
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
        """Run a command and wait until it ends.

        :raises WaitTimeout: the command failed; the error has its last output
        """
        log = self._layout.log(name)
        with open(log, 'ab') as output:
            code = subprocess.run(
                [str(a) for a in arguments], stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, check=False,
                cwd=self._layout.state(name),
                env=self._environment(environment)).returncode
        if code:
            raise WaitTimeout(
                f'{name} ended with {code}: {self.log_tail(name)}')

    def log_tail(self, name: str) -> str:
        """The end of the log of that name."""
        log = self._layout.log(name)
        return log.read_text(errors='replace')[-2000:] if log.exists() else ''

    def names(self) -> list[str]:
        """The groups that were started and not ended, in the order of their
        start."""
        return [file.stem for file in sorted(
            self._layout.state('processes').glob('*.pid'),
            key=lambda file: file.stat().st_mtime_ns)]

    def started(self, name: str) -> datetime.datetime:
        """The time of the last start of a group."""
        return datetime.datetime.fromtimestamp(
            self._file(name).stat().st_mtime, datetime.timezone.utc)

    def leader(self, name: str) -> int:
        """The process ID of the leader of a group."""
        return int(self._file(name).read_text().split()[0])

    def alive(self, name: str) -> bool:
        """Return whether any process of the group is running."""
        return bool(self._members(name))

    def end(self, names: Iterable[str]) -> None:
        """End all of these groups; kill processes that do not end in time."""
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
        """Kill a group without a signal that it could handle."""
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
        """The running processes of a group."""
        child = self._children.get(name)
        if child is not None:
            child.poll()
        file = self._file(name)
        if not file.exists():
            return []
        leader, started_at = map(int, file.read_text().split())
        if _started_at(leader) not in (started_at, None):
            # Another process has the number now.
            return []
        return _of_group(leader)

    def _file(self, name: str) -> pathlib.Path:
        return self._layout.state('processes') / f'{name}.pid'

    def _environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items()
                     if name in ('HOME', 'USER', 'LOGNAME', 'TMPDIR')}
        modules = [_RARE_SEARCHES] if self._layout.rare_searches else []
        return inherited | {
            'PATH': os.pathsep.join((scripts(''), os.environ['PATH'],
                                     '/usr/sbin', '/sbin')),
            'LANG': 'C.UTF-8',
            'PYTHONPATH': os.pathsep.join(map(str, [PROJECT, *modules])),
            **(extra or {})}


def scripts(name: str) -> str:
    """The path of a command of the current Python environment."""
    return os.path.join(sysconfig.get_path('scripts'), name)


def shared(*names: str) -> pathlib.Path:
    """The path of a file that a wheel installed below the prefix."""
    return pathlib.Path(sys.prefix, *names)


def _of_group(group: int) -> list[int]:
    """The process IDs of a group, without zombies."""
    members = []
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        state, _, process_group = (_stat_fields(int(folder.name)) or 'X--')[:3]
        if process_group == str(group) and state not in 'ZX':
            members.append(int(folder.name))
    return members


def _started_at(pid: int) -> int | None:
    """The start time of a process, in clock ticks since the boot of the
    machine."""
    fields = _stat_fields(pid)
    return int(fields[19]) if fields else None


def _stat_fields(pid: int) -> list[str] | None:
    """The fields of ``/proc/PID/stat`` behind the name; see proc(5)."""
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return None
    # The name is in parentheses and may contain any character.
    return stat.rpartition(')')[2].split()
