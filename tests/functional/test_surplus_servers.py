# SPDX-License-Identifier: Apache-2.0
"""Nova gets two create requests for one member of a boot. Finally one server
exists, and the boot names it."""

import threading

import pytest

from nova_holistic.boot.errors import CreateRefused
from nova_holistic.boot.user_servers import UserServers
from nova_holistic.embedded.waiting import wait_for
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.inventory.errors import ServiceFailed
from tests.functional.boots import Boots, boots, document, running

__all__ = ('boots', 'running')
"""Fixtures."""


class LateEngine(threading.Thread):
    """An engine that writes no heartbeat while it sends a create request.

    :ivar created: UUID of its server
    :ivar error: error with which its work has ended
    """

    def __init__(self, boots, group):
        super().__init__()
        self._boots, self._group = boots, group
        self.began, self._go_on = threading.Event(), threading.Event()
        self.created = self.error = None

    def run(self):
        try:
            self._boots.run(self._group, 'late')
        except OwnershipLost as error:
            self.error = error

    def request(self, send):
        """Send the request when the test allows it."""
        self.began.set()
        assert self._go_on.wait(60)
        self.created = send()
        return self.created

    def finish(self):
        """Let the engine send its request, and wait for the end of its
        work."""
        self._go_on.set()
        self.join(60)
        assert self.error is not None


def requests_of(boots, create):
    """Pass each create request of an engine to a function.

    :param create: called with a function that sends the request
    """
    class Requests(UserServers):
        def create(self, body):
            send = super().create
            return create(lambda: send(body))

    boots.rights.servers = Requests(boots.cloud.compute_for())


def the_only_server(cloud, boots, group):
    """The server of the boot and of its member, which must be the only one."""
    (row,) = boots.servers(group).values()
    assert (boots.status(group), str(row.state), row.fault) == (
        'complete', 'active', None)
    assert cloud.row(group, 'web-0').instance_uuid == row.server_uuid
    wait_for(lambda: len(cloud.servers()) == 1, 'the other server to go')
    (server,) = cloud.servers()
    assert (server['id'], server['status']) == (row.server_uuid, 'ACTIVE')
    return server['id']


@pytest.mark.parametrize('first', ['late', 'another'])
def test_an_engine_loses_its_boot_during_a_create_request(
        cloud, boots, first):
    """Both engines create a server before the other one has written its
    server. The server of the first request gets the place."""
    group, other = boots.ask(wanted=document(1)), Boots(cloud)
    late = LateEngine(boots, group)

    def create_both(send):
        if first == 'late':
            late.finish()
            cloud.wait_for_status(late.created, 'ACTIVE')
            return send()
        server = send()
        cloud.wait_for_status(server, 'ACTIVE')
        late.finish()
        return server

    requests_of(boots, late.request)
    requests_of(other, create_both)
    late.start()
    assert late.began.wait(60)
    assert other.run(group, 'another')
    server = the_only_server(cloud, other, group)
    assert (server == late.created) == (first == 'late')


@pytest.mark.parametrize('refused', [False, True])
def test_nova_carries_out_a_request_that_it_has_not_answered(
        cloud, boots, refused):
    """Nova carries out the first request when it gets the next one. It may
    refuse the next request, for example because of a quota."""
    unanswered = []

    def create(send):
        if not unanswered:
            unanswered.append(send)
            raise ServiceFailed('nova', '/servers', 'HTTP 504')
        cloud.wait_for_status(unanswered[0](), 'ACTIVE')
        if refused:
            raise CreateRefused('HTTP 403: Quota exceeded')
        return send()

    requests_of(boots, create)
    group = boots.ask(retries=1, wanted=document(1))
    assert boots.run(group)
    the_only_server(cloud, boots, group)


def test_a_rollback_deletes_a_server_that_nova_created_late(cloud, boots):
    """Both requests got no answer, and the first one is carried out after the
    last attempt has failed."""
    def create(send):
        unanswered.append(send)
        raise ServiceFailed('nova', '/servers', 'HTTP 504')

    def find_none(path):
        """The servers in Nova's list before Nova carries out the request."""
        found = of_group(path)
        if unanswered:
            cloud.wait_for_status(unanswered.pop()(), 'ACTIVE')
        return found

    unanswered = []
    requests_of(boots, create)
    of_group = boots.rights.servers.of_group
    boots.rights.servers.of_group = find_none
    group = boots.ask(rollback=True, wanted=document(1))
    assert boots.run(group)
    assert boots.status(group) == 'rolled-back'
    (row,) = boots.servers(group).values()
    assert (str(row.state), row.server_uuid) == ('failed', None)
    assert 'HTTP 504' in row.fault
    assert cloud.servers() == []
