# SPDX-License-Identifier: Apache-2.0
"""Children and parents are killed, and requests and responses are lost. Each
hold belongs to a group, and each member that is reported as planned has its
hold."""

import pytest

from tests.functional.federation.proxy import Fault, Proxy, urls
from tests.functional.federation.test_federation import (
    held, pointed, SPLIT)
from tests.functional.federation.world import SMALL, TIMEOUT, until
from tools.federation import processes

PLAN, CREATE, EXTEND, DELETE = 'plan', 'create', 'extend', 'delete'
LEASE = 8
"""Lease in seconds of a part until all parts exist."""
KILLS = (
    (CREATE, Fault.REQUEST_LOST),   # between offer and commit
    (EXTEND, Fault.REQUEST_LOST),   # between two commits
    (CREATE, Fault.ANSWER_CUT),     # while it answers
    (PLAN, Fault.ANSWER_CUT),
    (CREATE, Fault.ANSWER_LOST),
    (EXTEND, Fault.ANSWER_CUT))
"""Requests with which a child is killed, and what the parent sees of them."""
LOST = tuple((name, number, fault) for name in (CREATE, EXTEND)
             for number in (1, 2) for fault in (
                 Fault.ANSWER_LOST, Fault.ANSWER_CUT, Fault.REQUEST_LOST))
"""Requests of a commit, with their number among those of all children."""
POINTS = ('part-undone', 'parts-deleted')
"""Crash points of a parent that undoes or deletes parts."""


def pytest_generate_tests(metafunc):
    full = metafunc.config.getoption('effort') == 'full'
    if 'kill' in metafunc.fixturenames:
        metafunc.parametrize('kill', KILLS if full else KILLS[:2], ids=str)
    if 'lost' in metafunc.fixturenames:
        metafunc.parametrize('lost', LOST if full else (LOST[3], LOST[6]),
                             ids=str)
    if 'name' in metafunc.fixturenames:
        metafunc.parametrize('name', (CREATE, EXTEND) if full else (EXTEND,))


def name_of(method, path):
    """The name of a request, or None if a test does not count this kind of
    request."""
    path = path.partition('?')[0]
    if method == 'DELETE':
        return DELETE
    if method == 'POST':
        return {'plans': PLAN, 'groups': CREATE, 'extend': EXTEND}.get(
            path.rpartition('/')[2])
    return None


class Nth:
    """A fault of the n-th request with a name among the requests of several
    proxies."""

    def __init__(self, name, number, fault):
        self.done = False
        self._name = name
        self._left = number
        self._fault = fault

    def __call__(self, method, path):
        if name_of(method, path) == self._name:
            self._left -= 1
            if self._left == 0:
                self.done = True
                return self._fault
        return None


def must_hold_only(clouds, parent, groups):
    """Assert that the clouds hold exactly the planned members of these groups
    after all short leases have expired. Returns these holds."""
    expected, kept = set(), 0
    for group in groups:
        members = parent.members(group)
        assert len({each['cloud'] for each in members.values()}) == 2
        expected |= pointed(members)
        kept += 2
    assert until(lambda: held(clouds),
                 lambda found: found == expected) == expected
    reports = [cloud.settled_report() for cloud in clouds.values()]
    assert [each['differences'] for each in reports] == [[]] * len(clouds)
    # Placement has the amounts of the holds.
    assert sum(each['used'] for each in reports) == (
        len(expected) * SMALL['VCPU'])
    return expected


def test_a_killed_child_is_replaced(
        clouds, cloud_forks, start_parent, tmp_path, kill):
    request, fault = kill
    dying = processes.start_child(
        [('abc-1', 'a', 8)], tmp_path, cloud_forks.start)
    proxy = None
    try:
        dying.wait_until_ready()
        proxy = Proxy(dying.url)
        proxy.fault = killed = Nth(request, 1, fault)
        proxy.breaks = dying.kill
        parent = start_parent(
            children={'abc': proxy.url, **{
                name: cloud.url for name, cloud in clouds.items()}},
            order=['abc'], commit_lease=LEASE)
        group = parent.create(SPLIT)
        assert killed.done
    finally:
        if proxy:
            proxy.stop()
        dying.stop()
    assert group['status'] == 'planned', group
    members = parent.members(group['id'])
    assert 'abc' not in {each['cloud'] for each in members.values()}
    must_hold_only(clouds, parent, [group['id']])
    # The parent does not know whether the part in the killed child still
    # exists, so the deletion fails with the name of the child.
    answer = parent.ask('DELETE', f'/groups/{group["id"]}')
    assert answer.status_code == (204 if request == PLAN else 503)
    assert held(clouds) == set()


def test_a_lost_request_or_answer_creates_nothing_twice(
        clouds, proxies, start_parent, lost):
    fault = Nth(*lost)
    for each in proxies.values():
        each.fault = fault
    parent = start_parent(children=urls(proxies), commit_lease=LEASE)
    group = parent.create(SPLIT)
    assert fault.done
    assert group['status'] == 'planned', group
    must_hold_only(clouds, parent, [group['id']])
    # The repeated request has found the group of the first request.
    assert sum(len(cloud.report()['groups'])
               for cloud in clouds.values()) == 2
    parent.delete(group['id'])


def test_a_child_that_answers_again_is_cleared(
        clouds, proxies, start_parent, name):
    """The child carries out the first request with this name and then does not
    respond, as if its processes were killed and its databases remained."""
    silent = set()

    def silence(proxy):
        def fault(method, path):
            if proxy in silent:
                return Fault.REQUEST_LOST
            if not silent and name_of(method, path) == name:
                silent.add(proxy)
                return Fault.ANSWER_LOST
            return None
        return fault

    for each in proxies.values():
        each.fault = silence(each)
    parent = start_parent(children=urls(proxies), commit_lease=LEASE)
    group = parent.create(SPLIT)
    assert group['status'] == 'planned', group
    (dead,) = [cloud for cloud, each in proxies.items() if each in silent]
    members = parent.members(group['id'])
    assert dead not in {each['cloud'] for each in members.values()}
    answer = parent.ask('DELETE', f'/groups/{group["id"]}')
    assert (answer.status_code, dead in answer.text) == (503, True)
    silent.add(None)
    for each in proxies.values():
        each.fault = lambda method, path: None
    parent.delete(group['id'])
    assert until(lambda: held(clouds), lambda found: not found) == set()
    assert all(cloud.report()['groups'] == [] for cloud in clouds.values())


@pytest.mark.parametrize('point', POINTS)
def test_a_parent_that_is_killed_while_it_undoes_leaves_nothing(
        clouds, proxies, start_parent, point):
    """For ``part-undone``, every create request after the first one is lost,
    so the parent undoes the first part. Otherwise the group is placed and
    deleted."""
    parent = start_parent(children=urls(proxies), commit_lease=LEASE,
                          crash_point=f'federation.{point}')
    if point == 'part-undone':
        numbers = iter(range(1000))
        for each in proxies.values():
            each.fault = lambda method, path: (
                Fault.REQUEST_LOST if name_of(method, path) == CREATE
                and next(numbers) > 0 else None)
        group = parent.begin(SPLIT)
    else:
        group = parent.create(SPLIT)['id']
        with pytest.raises(OSError):
            parent.ask('DELETE', f'/groups/{group}')
    parent.process.wait_until_killed(TIMEOUT)
    for each in proxies.values():
        each.fault = lambda method, path: None

    second = start_parent(children=urls(proxies), commit_lease=LEASE)
    if point == 'part-undone':
        assert second.settled(group)['status'] == 'planned'
        must_hold_only(clouds, second, [group])
    second.delete(group)
    assert until(lambda: held(clouds), lambda found: not found) == set()
