# SPDX-License-Identifier: Apache-2.0
"""Two parents over the same clouds at the same time."""

from collections import Counter
from concurrent import futures

import pytest

from tests.functional.federation.proxy import urls
from tests.functional.federation.test_federation import (
    held, pointed, SPLIT)
from tests.functional.federation.world import until

SHORT, FULL = 8, 100
"""Number of groups of each parent. The clouds have capacity for 8, 8 and 2
servers."""
CLIENTS = 6
"""Number of clients of each parent. Each has up to two groups, and all of them
together want more than the clouds have capacity for."""
TRIES = 4
LEAST, MOST = 8, 9
"""Minimum and maximum number of pairs of servers in different clouds that fit.
The number depends on the order of the choices."""


def tries_by_group(proxies):
    """Number of commits that were started for each group, from the keys
    ``PARENT-GROUP-RANDOM-TRY.PARTS-CHILD`` that the clouds received."""
    found = Counter()
    for proxy in proxies.values():
        for key in proxy.keys:
            group, number, _ = key.rsplit('-', 2)
            found[group] = max(found[group], int(number.split('.')[0]))
    return found


def placed_at_once(parents, number):
    """Each settled group with its parent. All groups are requested at the same
    time."""
    with futures.ThreadPoolExecutor(8) as pool:
        begun = [(parent, pool.submit(parent.create, {
            **SPLIT, 'name': f'pair-{at}'}))
            for at in range(number) for parent in parents]
        return [(parent, each.result()) for parent, each in begun]


def placed_until_full(parent):
    """Create further groups, one after the other, until one is unplaceable."""
    found = []
    while not found or found[-1]['status'] == 'planned':
        found.append(parent.create(SPLIT))
    assert found[-1]['status'] == 'unplaceable', found[-1]
    return [(parent, each) for each in found]


def must_hold_only(clouds, groups):
    """Assert that each planned group is held completely, and that nothing else
    is held."""
    expected = set()
    for parent, group in groups:
        if group['status'] == 'planned':
            members = parent.members(group['id'])
            assert len({each['cloud'] for each in members.values()}) == 2
            assert not expected & pointed(members)
            expected |= pointed(members)
    assert until(lambda: held(clouds),
                 lambda found: found == expected) == expected


class Client:
    """Creates groups one after the other, and deletes each of them when the
    next one is planned or refused.

    :ivar statuses: the statuses of all groups
    """

    def __init__(self, parent, clouds):
        self.statuses = []
        self._parent, self._clouds = parent, clouds

    def create_and_delete(self, number):
        kept = None
        for at in range(number):
            group = self._parent.create({**SPLIT, 'name': f'pair-{at}'})
            self.statuses.append(group['status'])
            if group['status'] == 'planned':
                must_be_held(self._clouds, self._parent, group)
            if kept is not None:
                must_be_held(self._clouds, self._parent, kept)
                self._parent.delete(kept['id'])
            kept = group
        self._parent.delete(kept['id'])


def must_be_held(clouds, parent, group):
    """Assert that the group is held completely if it is planned."""
    if group['status'] == 'planned':
        members = parent.members(group['id'])
        assert len({each['cloud'] for each in members.values()}) == 2
        assert pointed(members) <= held(clouds)


@pytest.fixture
def parents(start_parent, proxies):
    return [start_parent(f'parent-{each}', children=urls(proxies),
                         parent_id=each, max_tries=TRIES)
            for each in ('one', 'two')]


@pytest.fixture
def number(pytestconfig):
    """Number of groups of each parent."""
    return FULL if pytestconfig.getoption('effort') == 'full' else SHORT


def test_two_parents_share_clouds(
        clouds, proxies, parents, number, record_property):
    groups = placed_at_once(parents, number)
    assert {group['status'] for _, group in groups} <= {
        'planned', 'unplaceable', 'error'}
    must_hold_only(clouds, groups)
    tries = tries_by_group(proxies)
    assert max(tries.values()) <= TRIES
    record_property('statuses', dict(Counter(
        group['status'] for _, group in groups)))
    record_property('tries', dict(Counter(tries.values())))

    # All capacity that is not held is still usable, and is not used twice.
    groups += placed_until_full(parents[0])
    must_hold_only(clouds, groups)
    assert LEAST <= sum(group['status'] == 'planned'
                        for _, group in groups) <= MOST
    for parent, group in groups:
        parent.delete(group['id'])
    assert held(clouds) == set()


def test_two_parents_compete_until_the_end(
        clouds, proxies, parents, number, record_property):
    """Capacity becomes free and is taken all the time, so that many offers are
    out of date when they are chosen."""
    clients = [Client(parent, clouds) for parent in parents
               for _ in range(CLIENTS)]
    with futures.ThreadPoolExecutor(len(clients)) as pool:
        done = [pool.submit(each.create_and_delete, 1 + number // CLIENTS)
                for each in clients]
        for each in done:
            each.result()
    statuses = Counter(each for client in clients for each in client.statuses)
    tries = tries_by_group(proxies)
    record_property('statuses', dict(statuses))
    record_property('tries', dict(Counter(tries.values())))
    assert set(statuses) <= {'planned', 'unplaceable', 'error'}
    # Without competition, each of the first eight groups is planned.
    assert statuses['planned'] >= LEAST
    assert max(tries.values()) <= TRIES
    assert until(lambda: held(clouds), lambda found: not found) == set()
    # All capacity is free again.
    group = parents[1].create(SPLIT)
    assert group['status'] == 'planned'
    must_hold_only(clouds, [(parents[1], group)])
    parents[1].delete(group['id'])
