# SPDX-License-Identifier: Apache-2.0
"""Sixteen threads of one scheduler look members up at the same time.

``benchmarks/parallel_lookups.py`` does the same with 1,000 members, and
measures the time.
"""

from collections import Counter
from concurrent import futures
import uuid

from nova import context as nova_context
from nova import exception
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}',
                           vcpus=16) for number in range(5))
MEMBERS = 60
THREADS = 16
TINY = {'VCPU': 1, 'MEMORY_MB': 64, 'DISK_GB': 1}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.create_flavor('tiny', 1, 64, 1)
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    for host in HOSTS:
        for consumer in running.consumers(host.name):
            running.delete_consumer(consumer)
    running.clear()


def test_every_member_has_one_server_and_every_server_one_member(cloud):
    """The pointers of all requests name the counted member. Each request is
    sent twice, as by a conductor that repeats it, and there are more servers
    than members."""
    group = planned(cloud)
    instances = [str(uuid.uuid4()) for _ in range(MEMBERS + 8)]
    answers = in_parallel(cloud, group, [
        (instance, 'node') for instance in instances for _ in range(2)])
    hosts = {instance: {host for host in found if host}
             for instance, found in answers.items()}
    given = {instance: host for instance, found in hosts.items()
             for host in found}
    assert len(given) == MEMBERS
    assert all(len(found) <= 1 for found in hosts.values())
    assert_consistent(cloud, group, given)


def test_one_of_two_servers_that_request_a_member_gets_it(cloud):
    group = planned(cloud)
    answers = in_parallel(cloud, group, [
        (str(uuid.uuid4()), f'node-{number}')
        for number in range(MEMBERS) for _ in range(2)])
    given = {instance: host for instance, (host,) in answers.items() if host}
    assert len(given) == MEMBERS
    assert_consistent(cloud, group, given)


def planned(cloud):
    return cloud.plan(
        {'name': 'shop', 'members': [
            {'name': 'node', 'flavor': 'tiny', 'count': MEMBERS}]},
        {f'node-{number}': HOSTS[number % len(HOSTS)].name
         for number in range(MEMBERS)}, resources=TINY)


def in_parallel(cloud, group, requests):
    """Lists of the selected hosts by instance. None means a refusal.

    :param requests: pairs of an instance and the member path of its pointer
    """
    specs = [(instance, cloud.request_spec(
        'tiny', {'group': group, 'member': path}, instance))
        for instance, path in requests]

    def ask(request):
        instance, spec = request
        try:
            ((first, *_),) = cloud.controllers.scheduler.manager\
                .select_destinations(
                    nova_context.RequestContext(USER, PROJECT), spec_obj=spec,
                    instance_uuids=[instance], return_objects=True,
                    return_alternates=True)
        except Exception as error:
            # The manager wraps the errors that Nova's API expects.
            wrapped = getattr(error, 'exc_info', (None, error))[1]
            assert isinstance(wrapped, exception.NoValidHost), error
            assert 'is taken' in str(wrapped) or 'server' in str(wrapped)
            return instance, None
        return instance, first.service_host

    found = {}
    with futures.ThreadPoolExecutor(THREADS) as pool:
        for instance, host in pool.map(ask, specs):
            found.setdefault(instance, []).append(host)
    return found


def assert_consistent(cloud, group, given):
    """Assert that answers, rows and allocations agree, and that no hold
    exists.

    :param given: selected host of each instance
    """
    rows = cloud.table.members(group)
    assert {row.instance_uuid: row.place.host for row in rows} == given
    assert {(row.state, row.held) for row in rows} == {
        (MemberState.CLAIMED, False)}
    for host in HOSTS:
        assert cloud.consumers(host.name) == {
            instance: TINY for instance, planned_host in given.items()
            if planned_host == host.name}
    count = Counter(given.values())
    assert cloud.used() == {
        host: {name: amount * count[host] for name, amount in TINY.items()}
        for host in count}
