# SPDX-License-Identifier: Apache-2.0
"""Another process can end the processes of a cloud, and ends no others."""

import json
import subprocess
import sys

import pytest

from tools.cloud.layout import Layout
from tools.cloud.processes import Processes
from tools.cloud.waiting import wait_for, WaitTimeout

STAYS = 'import time; print("there", flush=True); time.sleep(600)'
STUBBORN = 'import signal; signal.signal(signal.SIGTERM, print); ' + STAYS
HAS_CHILD = ('import subprocess, sys; '
             f'subprocess.Popen([sys.executable, "-c", {STAYS!r}]); ' + STAYS)


@pytest.fixture
def layout(tmp_path):
    return Layout.make(tmp_path / 'cloud', hosts=1)


@pytest.fixture
def start(layout):
    """Start Python code, and wait for its first output."""
    processes = Processes(layout)

    def started(name, code, lines=1):
        processes.start(name, [sys.executable, '-c', code])
        wait_for(name, lambda: processes.log_tail(
            name).count('there') == lines)
        return processes

    yield started
    for name in processes.names():
        processes.kill(name)


def test_another_program_can_end_the_processes(layout, start):
    start('one', STAYS)
    start('two', HAS_CHILD, lines=2)
    later = Processes(Layout.read(layout.directory))
    assert later.names() == ['one', 'two']
    later.end(['one', 'two'])
    assert not later.alive('one') and not later.alive('two')
    assert later.names() == []


@pytest.mark.parametrize('rare', [False, True])
def test_the_layout_chooses_how_often_python_searches_for_garbage(
        tmp_path, rare):
    layout = Layout.make(tmp_path / 'cloud', hosts=1, rare_searches=rare)
    processes = Processes(Layout.read(layout.directory))
    processes.run('threshold', [
        sys.executable, '-c', 'import gc; print(*gc.get_threshold())'])
    usual = ' '.join(map(str, gc_default()))
    assert (processes.log_tail('threshold').strip() == usual) != rare


def gc_default():
    """The thresholds of a process without settings of the project."""
    return json.loads(subprocess.run(
        [sys.executable, '-c', 'import gc; print([*gc.get_threshold()])'],
        check=True, stdout=subprocess.PIPE).stdout)


def test_a_process_that_ignores_sigterm_is_killed(layout, start, monkeypatch):
    monkeypatch.setattr('tools.cloud.processes._WAIT_SECONDS', 0.5)
    processes = start('deaf', STUBBORN)
    processes.end(['deaf'])
    assert not processes.alive('deaf')


def test_a_reused_process_id_is_not_killed(layout, start):
    processes = start('one', STAYS)
    with subprocess.Popen([sys.executable, '-c', STAYS],
                          stdout=subprocess.DEVNULL,
                          start_new_session=True) as other_server:
        file = layout.state('processes') / 'one.pid'
        pid_text = file.read_text()
        # The process has ended, and another one has its ID.
        file.write_text(f'{other_server.pid} 1')
        assert not processes.alive('one')
        processes.end(['one'])
        assert other_server.poll() is None
        other_server.kill()
    file.write_text(pid_text)


def test_the_output_of_a_failed_command_is_reported(layout):
    with pytest.raises(WaitTimeout, match='the reason'):
        Processes(layout).run('failing', [
            sys.executable, '-c', 'raise SystemExit("the reason")'])


def test_ports_are_unique_and_stored(layout):
    assert len(set(layout.ports.values())) == len(layout.ports)
    assert Layout.read(layout.directory) == layout
