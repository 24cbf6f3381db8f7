# SPDX-License-Identifier: Apache-2.0
"""A server without a pointer is scheduled as on stock Nova."""

import collections
import uuid

from nova import exception
import pytest

from nova_holistic.embedded.host import EmbeddedHost
from tests.functional.call_counts import counted

HOSTS = (
    EmbeddedHost('small-1', zone='az1', rack='r1', vcpus=2),
    EmbeddedHost('small-2', zone='az1', rack='r2', vcpus=2),
    EmbeddedHost('large-1', zone='az2', rack='r1', vcpus=8),
)


def ask(cloud, flavor):
    """The scheduler's answer as plain data, and the statements and requests
    that it needed."""
    instance = str(uuid.uuid4())
    spec = cloud.request_spec(flavor, None, instance)
    with counted() as calls:
        try:
            answer = [selection.to_dict() for selection in
                      cloud.select_destinations(spec, [instance])[0]]
        except exception.NoValidHost as error:
            answer = error.format_message()
    if cloud.allocations(instance):
        cloud.delete_consumer(instance)
    return answer, collections.Counter(calls.sql), calls.http


def answers(lend_cloud, scheduler):
    """The scheduler's answers for a server with one suitable host, and with
    none."""
    with lend_cloud(HOSTS, scheduler=scheduler) as cloud:
        cloud.create_flavor('large', 8, 2048, 10)
        cloud.create_flavor('too-large', 9, 2048, 10)
        # The first answer of a process fills Nova's caches.
        ask(cloud, 'large')
        return [ask(cloud, flavor) for flavor in ('large', 'too-large')]


def test_answers_equal_stock_novas_with_two_extra_queries(
        lend_cloud):
    stock, holistic = (
        answers(lend_cloud, kind) for kind in ('stock', 'holistic'))
    assert stock[0][0][0]['host'] == 'large-1'
    assert 'No valid host' in stock[1][0]
    for (answer, queries, requests), (our, own, calls) in zip(stock, holistic):
        assert (our, calls) == (answer, requests)
        assert not queries - own
        # The further statements check whether a group has adopted the server,
        # and whether exclusive groups exist. No host is read if Placement
        # proposes none.
        adopted, *further = [query for query in (own - queries).elements()
                             if query != 'BEGIN']
        assert 'instance_uuid' in adopted
        assert len(further) == (1 if answer[0] != 'N' else 0)
        assert all('exclusive' in query for query in further)


@pytest.mark.parametrize('scheduler', ['stock', 'holistic'])
def test_server_groups_and_other_hints_are_left_to_nova(
        lend_cloud, scheduler):
    with lend_cloud(HOSTS, scheduler=scheduler) as cloud:
        cloud.create_flavor('tiny', 1, 512, 1)
        server_group = cloud.create_server_group('apart', 'anti-affinity')
        hints = {'group': server_group, 'of_no_meaning': 'here'}
        servers = [cloud.create_server('tiny', 'tiny', hints=hints)
                   for _ in HOSTS]
        for server in servers[:1]:
            cloud.wait_for_status(server, 'ACTIVE')
        placed = [server for server in servers
                  if _settled(cloud, server)['status'] == 'ACTIVE']
        on = [cloud.host_of(server) for server in placed]
        assert len(set(on)) == len(on)


def _settled(cloud, server):
    try:
        return cloud.wait_for_status(server, 'ACTIVE')
    except Exception:
        return cloud.get_server(server)
