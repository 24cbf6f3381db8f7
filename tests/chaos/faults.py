# SPDX-License-Identifier: Apache-2.0
"""Kill or pause processes of the cloud, and start or continue them."""

import contextlib
import os
import signal
import threading

from tests.chaos.operations import Fault
from tools.cloud.cloud import Cloud
from tools.cloud.compute_files import down_file, pid_file
from tools.cloud.holistic import ENGINES
from tools.cloud.nova import SCHEDULER
from tools.cloud.waiting import wait_for


class Faults:
    """Starts and ends faults; any thread may call any method.

    A process that two faults have stopped runs again when both have ended.
    """

    def __init__(self, cloud: Cloud):
        self._cloud = cloud
        self._lock = threading.RLock()
        self._stopped: dict[str, list[bool]] = {}

    def begin(self, fault: Fault) -> None:
        """Stop the process of the fault."""
        self.stop(self._name(fault), kills=fault.kind.startswith('kill'))

    def end(self, fault: Fault) -> None:
        """Let the process run again."""
        self.resume(self._name(fault))

    def stop(self, name: str, kills: bool = True) -> None:
        """Kill or pause a process.

        :param name: name of a process of the cloud, or of a compute host
        """
        with self._lock:
            faults = self._stopped.setdefault(name, [])
            faults.append(kills)
            if kills and faults.count(True) == 1:
                self._kill(name)
            elif not kills and faults == [False]:
                self._send(name, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Undo one call of ``stop``."""
        with self._lock:
            killed = self._stopped[name]
            was_killed = any(killed)
            killed.pop()
            if killed:
                return
            if was_killed:
                self._start(name)
            else:
                self._send(name, signal.SIGCONT)

    def _name(self, fault: Fault) -> str:
        hosts = self._cloud.layout.host_names()
        names = {'compute': hosts, 'engine': ENGINES,
                 'scheduler': [SCHEDULER], 'API': ['holistic'],
                 'RabbitMQ': ['rabbitmq'], 'MariaDB': ['mariadb']}[
                     fault.kind.partition(' ')[2]]
        return names[int(fault.dice * len(names))]

    def _is_host(self, name: str) -> bool:
        return name in self._cloud.layout.host_names()

    def _kill(self, name: str) -> None:
        if not self._is_host(name):
            self._cloud.processes.kill(name)
            return
        # Otherwise the next start of another host would also start this one.
        down_file(self._cloud.layout, name).touch()
        # The process may have ended without a signal.
        with contextlib.suppress(ProcessLookupError):
            self._send(name, signal.SIGKILL)
        pid = self._pid(name)
        wait_for(f'end of {name}', lambda: not os.path.exists(f'/proc/{pid}'))

    def _start(self, name: str) -> None:
        services = self._cloud.services
        if self._is_host(name):
            down_file(self._cloud.layout, name).unlink(missing_ok=True)
            os.kill(self._cloud.processes.leader('computes'), signal.SIGHUP)
        elif name in ENGINES:
            services['holistic'].start_engine(name)
        elif name == SCHEDULER:
            services['nova'].start_command(name)
        elif name == 'holistic':
            services['holistic'].start_api()
        else:
            self._cloud.start(name)

    def _send(self, name: str, number: int) -> None:
        if self._is_host(name):
            os.kill(self._pid(name), number)
        else:
            self._cloud.processes.send(name, number)

    def _pid(self, host: str) -> int:
        return int(pid_file(self._cloud.layout, host).read_text())
