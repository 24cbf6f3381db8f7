# SPDX-License-Identifier: Apache-2.0
"""The figures on the page on sizing are those of the benchmarks."""

import pathlib
import re

import pytest

from tests.unit.manual_tables import list_table, simple_table

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / 'doc/source/admin/sizing.rst').read_text()
MEASURED = (ROOT / 'benchmarks/README.rst').read_text()

PLANS = simple_table(MEASURED, 'group objective used % median s')
LARGE_PLANS = simple_table(MEASURED, 'objective median s max s')
HELD = simple_table(MEASURED, 'hosts members state held')
ANSWERS = simple_table(MEASURED, 'hosts topology answer requests')
PASSES = simple_table(MEASURED, 'pass engine CPU')
REQUESTS = simple_table(MEASURED, 'request statements SQLite, ms MariaDB, ms')


def _row(rows, **wanted):
    found, = (row for row in rows if wanted.items() <= row.items())
    return found


@pytest.mark.parametrize('row', list_table(PAGE, 'How long a plan takes'),
                         ids=' '.join)
def test_the_seconds_of_plans_were_measured(row):
    hosts, members, used, objective, median, longest = row
    if (hosts, members) == ('10,000', '1,000'):
        found = _row(PLANS, group='plain', objective=objective,
                     **{'used %': used.removesuffix(' %')})
    else:
        assert (hosts, members, used) == ('50,000', '5,000', '90 %')
        found = _row(LARGE_PLANS, objective=objective)
    assert (median, longest) == (found['median s'], found['max s'])


@pytest.mark.parametrize(
    'row', list_table(PAGE, 'From a create to held capacity'), ids=' '.join)
def test_the_seconds_until_groups_are_held_were_measured(row):
    hosts, members, state, held, share = row
    found = _row(HELD, hosts=hosts, members=members, state=state)
    assert (held, share) == (found['held'], found['share'])


@pytest.mark.parametrize(
    'row', list_table(PAGE, 'How long a create takes in the scheduler'),
    ids=' '.join)
def test_the_milliseconds_of_the_scheduler_were_measured(row):
    hosts, *medians = row
    number, _, numa = hosts.replace('1,000', '1000').partition(',')
    for answer, median in zip(('looked up', 'stock'), medians, strict=True):
        found = _row(ANSWERS, hosts=number, answer=answer,
                     topology='numa' if numa else 'plain')
        assert median == found['median ms']


def test_the_memory_of_an_engine_was_measured():
    memory = {each['pass']: int(each['MiB']) for each in PASSES
              if each['pass'] != 'nothing has changed'}
    start = int(re.search(r'it was (\d+) MiB\s+before', MEASURED)[1])
    steps = [start, *list(memory.values())[:3]]
    again = [int(each['MiB']) for each in PASSES
             if each['pass'] == 'nothing has changed']
    assert [int(row[1]) for row in list_table(PAGE, 'Memory')] == [
        *steps, again[-1]]
    _, members, snapshot, first = steps
    per_member = (members - start + first - snapshot) * 2**20 / 100_000 / 1000
    per_host = (snapshot - members) * 2**20 / 10_000 / 1000
    assert (f'A member takes about {per_member:.1f} kB, and a host takes '
            f'{per_host:.1f} kB.') in ' '.join(PAGE.split())


def test_the_background_work_was_measured():
    costs = dict(list_table(PAGE, 'Work in the background'))
    quiet = [each for each in PASSES if each['pass'] == 'nothing has changed']
    for each in quiet:
        assert costs['A pass of the reconciler, if nothing has changed'] == (
            f'{each["to Placement"]} requests to Placement, '
            f'{each["to Nova"]} to Nova and {each["statements"]} SQL '
            'statements, with any number of members')
    read = float(PASSES[0]['engine CPU'])
    assert f'{read:.1f} s of processor time for 100,000 members' in costs[
        'Start of an engine']


def test_the_milliseconds_of_the_api_were_measured():
    one, page = (each['MariaDB, ms'].split(', ')[-1] for each in REQUESTS[:2])
    assert [each['request'] for each in REQUESTS[:2]] == [
        'show', 'list, a page of 100']
    assert (f'On MariaDB with 10,000 groups, a request for one group took '
            f'{one} ms, and a page of 100 groups took {page} ms (medians).'
            ) in ' '.join(PAGE.split())
