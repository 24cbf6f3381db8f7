# SPDX-License-Identifier: Apache-2.0
"""Worker processes run every test on both managers, even if a test or a worker
fails."""

import subprocess
import sys

import pytest

from tools.nova_compat.outcome import NOT_RUN
from tools.nova_compat.pool import Pool
from tools.nova_compat.process import WorkerFailed, WorkerProcess

WORKER = '''
import json, sys, time
for line in sys.stdin:
    question = json.loads(line)
    for name in question.get('list') or question['run']:
        if name == 'nova.A.ends':
            sys.exit(3)
        if name == 'nova.A.hangs':
            time.sleep(600)
        told = {'test': name} if 'list' in question else {
            'test': name, 'outcome': sys.argv[1], 'seconds': 0.0,
            'details': ''}
        print(json.dumps(told), flush=True)
    print(json.dumps({'end': True}), flush=True)
'''


@pytest.fixture(autouse=True)
def started(monkeypatch):
    """The managers of the started workers, which answer without Nova."""
    managers = []

    def start(worker):
        managers.append(worker.manager)
        return subprocess.Popen(
            [sys.executable, '-c', WORKER, worker.manager], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(WorkerProcess, '_start', start)
    return managers


def run(directory, tests, jobs=2, timeout=60.0):
    pool = Pool(jobs, directory / 'log', timeout, lambda line: None)
    try:
        found = pool.run(pool.listing(tests))
    finally:
        pool.close()
    return {manager: {test: each.outcome for test, each in outcomes.items()}
            for manager, outcomes in found.items()}


@pytest.mark.parametrize('jobs', [1, 2, 5])
def test_every_test_runs_once_on_each_manager(tmp_path, started, jobs):
    tests = [f'nova.{letter}.test_{number}'
             for letter in 'ABC' for number in range(3)]
    assert run(tmp_path, tests, jobs) == {
        manager: dict.fromkeys(tests, manager)
        for manager in ('stock', 'holistic')}
    assert set(started) == {'stock', 'holistic'}


def test_tests_of_a_worker_that_ended_were_not_run(tmp_path):
    pool = Pool(1, tmp_path / 'log', 60.0, lambda line: None)
    found = pool.run(['nova.A.a', 'nova.A.ends', 'nova.A.z', 'nova.B.b'])
    for manager in ('stock', 'holistic'):
        assert {test: each.outcome for test, each in found[manager].items()
                } == {'nova.A.a': manager, 'nova.A.ends': NOT_RUN,
                      'nova.A.z': NOT_RUN, 'nova.B.b': manager}
        assert 'ended with code 3' in found[manager]['nova.A.ends'].details


def test_a_test_that_hangs_is_interrupted(tmp_path):
    pool = Pool(2, tmp_path / 'log', 2.0, lambda line: None)
    found = pool.run(['nova.A.hangs'])
    for manager in ('stock', 'holistic'):
        assert found[manager]['nova.A.hangs'].outcome == NOT_RUN


def test_a_module_that_cannot_be_imported_ends_the_run(tmp_path):
    pool = Pool(1, tmp_path / 'log', 60.0, lambda line: None)
    with pytest.raises(WorkerFailed):
        pool.listing(['nova.A.ends'])
