# SPDX-License-Identifier: Apache-2.0
"""The most expensive documents end in time and with little memory.

Each document is read in its own process. The kernel ends the process if it
exceeds a limit of memory or processor time.
"""

import json
import resource
import subprocess
import sys

import pytest

from tests.effort import times

TIME_LIMIT = 1
SECONDS = 20
"""Limit of processor time in seconds, in addition to the time limit: for
reading, and for steps that cannot be interrupted. Most documents take a tenth
of it."""
MEMORY = 2**31
ONE = {'VCPU': 1}

CLOUD = {
    'levels': ['az', 'rack', 'host'],
    'hosts': [{
        'name': f'h{n}', 'location': [f'az{n % 3}', f'r{n % 40}'],
        'labels': {'feed': 'AB'[n % 2]},
        'resources': {'VCPU': {'total': 64}, 'MEMORY_MB': {'total': 10**6}}}
        for n in range(300)]}


def group(members, **keys):
    return {'name': 'g', 'members': members, **keys}


def server(count, **resources):
    return {'name': 'm', 'count': count, 'resources': resources or ONE}


def nested(depth, policies):
    found = group([server(600)], policies=policies)
    for _ in range(depth - 1):
        found = group([server(600)], groups=[found], policies=policies)
    return found


def laughs():
    """A document in which each line is nine times as large as the previous
    one."""
    lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for n in range(1, 20):
        lines.append(f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * 9)}]')
    return '\n'.join(lines)


def pairs(number, **keys):
    return [{**keys, 'between': [f'm{n}', f'm{n + 1}']}
            for n in range(number)]


def many(number, **resources):
    return [{'name': f'm{n}', 'resources': {
        'VCPU': 1 + n % 3, **{name: amount + n
                              for name, amount in resources.items()}}}
            for n in range(number)]


WORST = {
    'sixteen groups deep, with rules that all of them share': nested(16, [
        {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': 300},
        {'type': 'spread', 'level': 'rack', 'max_skew': 1},
        {'type': 'affinity', 'level': 'az', 'weight': 1}]),
    'no two servers alike': group(
        many(9999, MEMORY_MB=1), policies=[
            {'type': 'anti-affinity', 'level': 'rack',
             'max_per_domain': '5%'}]),
    'ten thousand servers': group([server(10_000)], policies=[
        {'type': 'anti-affinity', 'max_per_domain': 40},
        {'type': 'spread', 'level': 'rack', 'max_skew': 1}]),
    'a thousand wishes': group([server(1000)], policies=[
        {'type': 'spread', 'max_skew': n % 7, 'weight': 1 + n}
        for n in range(1000)]),
    'traffic between a thousand pairs': group(
        many(1001), relationships=pairs(
            1000, type='bandwidth', mbps=10, level='rack', weight=1)),
    'five thousand groups': {'name': 'g', 'groups': [
        {'name': f'g{n}', 'members': [server(2)],
         'policies': [{'type': 'anti-affinity'}]} for n in range(4999)]},
    'a thousand groups that want hosts of their own': {
        'name': 'g', 'groups': [
            {'name': f'g{n}', 'members': [server(3)],
             'policies': [{'type': 'exclusive'}]} for n in range(1000)]},
    'a thousand rules on ten thousand servers': group(
        [server(10_000)], policies=[
            {'type': 'anti-affinity', 'max_per_domain': 12 + n}
            for n in range(1000)]),
    'a thousand pairs apart': group(
        many(1001), relationships=pairs(
            1000, type='anti-affinity', level='rack')),
}

REFUSED = {
    'nested lists': '[' * 2_000_000,
    'nested groups': '{"groups": [' * 100_000,
    'aliases of aliases': laughs(),
    'digits': '{"name": "g", "members": [{"name": "a", "count": %s}]}' % (
        '9' * 5_000_000),
    'digits to the base 60': 'name: g\ncount: ' + '9:' * 100_000 + '9',
    'a huge exponent': '{"name": "g", "weight": 1e999999999}',
    'a count beyond all bounds': json.dumps(group([server(10**30)])),
    'counts that add up': json.dumps({'name': 'g', 'groups': [
        group([server(10_000)]) | {'name': f'g{n}'} for n in range(9000)]}),
    'one long name': json.dumps(
        group([server(1)]) | {'name': 'g' * 8_000_000}),
}


PLAN = f"""
import sys
from nova_holistic.cli.main import main
sys.exit(max(main(['plan', name, '--inventory', 'cloud.json', '--format',
                   'json', '--time-limit', '{TIME_LIMIT}'])
             for name in sys.argv[1:]))
"""


def run(folder, program, *words, seconds=TIME_LIMIT + SECONDS):
    """Run a program under its own limits."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return subprocess.run(
        [sys.executable, '-c', program, *words], cwd=folder,
        capture_output=True, text=True, preexec_fn=limit)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp('worst')
    (found / 'cloud.json').write_text(json.dumps(CLOUD))
    return found


@pytest.mark.parametrize('name', list(WORST)[:times(3)])
def test_large_groups_are_answered(folder, name):
    (folder / 'group.json').write_text(json.dumps(WORST[name]))
    done = run(folder, PLAN, 'group.json')
    assert done.returncode in (0, 1, 3), done.stderr
    assert done.stderr == ''


def test_documents_above_the_limits_are_refused(folder):
    for name, text in REFUSED.items():
        (folder / name).write_text(text)
    done = run(folder, PLAN, *REFUSED)
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    assert [line.split(': ')[1] for line in lines] == list(REFUSED)
    assert all(len(line) < 400 for line in lines)


@pytest.mark.parametrize('greedy', ['bytes(2**32)', 'sum(iter(int, 1))'])
def test_a_process_above_the_limits_is_killed(folder, greedy):
    done = run(folder, greedy, seconds=1)
    assert done.returncode < 0 or 'MemoryError' in done.stderr
