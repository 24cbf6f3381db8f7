# SPDX-License-Identifier: Apache-2.0
"""The log and the answers of an engine about the calls that it receives."""

import types

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.messaging.client import EngineClient
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging.errors import (
    EngineFailed, must_have_revision, StaleRevision)
from nova_holistic.messaging.transport import get_transport
from nova_holistic.service.rpc_endpoint import Endpoint
from nova_holistic.service.rpc_server import RpcServer
from nova_holistic.table.errors import MemberUnknown
from tests.unit.api.service import refusal, Service

GROUP = '5f0c8a52-8a1f-4f0e-9d55-1f6f6bb2f6a1'


class NothingToRelease:
    def release(self, group_uuid, members, revision):
        raise MemberUnknown(group_uuid, members[0])


def test_a_release_of_many_members_logs_a_short_line(caplog):
    caplog.set_level('INFO', 'nova_holistic.service')
    endpoint = Endpoint(None, NothingToRelease(), None)
    answer = endpoint.release(
        RequestContext('req-1', 'blue', 'ann'), group_uuid=GROUP,
        members=['x' * 690 + str(i) for i in range(10_000)])
    assert 'error' in answer
    shown = [record.getMessage() for record in caplog.records]
    assert any(GROUP in line for line in shown)
    assert max(map(len, shown)) < 2000


class DeleteFails:
    """A lifecycle with a mistake in its code."""

    def __init__(self, error):
        self._error = error

    def delete(self, group_uuid, revision):
        raise self._error


@pytest.fixture
def client_of(tmp_path):
    """Start an engine with a lifecycle; returns a client of it."""
    ends = []

    def start(lifecycle):
        config = tmp_path / 'engine.conf'
        config.write_text('[DEFAULT]\ntransport_url = fake://\n')
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[str(config)])
        transport = get_transport(conf)
        workers = types.SimpleNamespace(offer=lambda kind, uuid: None)
        server = RpcServer(transport, 'engine-1',
                           Endpoint(workers, lifecycle, None))
        server.start()
        ends.append((server, transport))
        assert server.wait_until_listening(60)
        return EngineClient(transport, timeout=60)

    yield start
    for server, transport in ends:
        server.stop(60)
        transport.cleanup()


@pytest.mark.parametrize('error', [
    KeyError('secret'), TypeError('secret'), RuntimeError('secret')],
    ids=repr)
def test_an_unexpected_error_of_an_engine_is_its_answer(
        client_of, caplog, error):
    client = client_of(DeleteFails(error))
    with pytest.raises(EngineFailed) as caught:
        client.delete(RequestContext('req-1', 'blue', 'ann'), GROUP)
    assert str(caught.value) == (
        f'an engine failed to carry out delete: {type(error).__name__}')
    traces = [record.exc_info[1] for record in caplog.records
              if record.name.startswith('nova_holistic.service')
              and record.exc_info]
    assert traces == [error]


def test_the_api_does_not_tell_clients_to_repeat_a_failing_request(
        client_of, table):
    """The engine would fail again."""
    service = Service(table, client_of(DeleteFails(KeyError('secret'))))
    answer = service.ask('DELETE', f'/v1/groups/{service.planned()}')
    assert refusal(answer)[:2] == (500, 'holistic.fault')
    assert 'Retry-After' not in answer.headers
    assert 'secret' not in answer.text


class Updated:
    """The lifecycle of a group that was updated to revision 2."""

    def delete(self, group_uuid, revision):
        must_have_revision(group_uuid, 2, revision)


def test_a_client_learns_that_a_group_was_updated(client_of):
    client, context = client_of(Updated()), RequestContext(
        'req-1', 'blue', 'ann')
    with pytest.raises(StaleRevision) as caught:
        client.delete(context, GROUP, 1)
    assert str(caught.value) == f'group {GROUP} is at revision 2, not 1'
    client.delete(context, GROUP, 2)
    client.delete(context, GROUP)
