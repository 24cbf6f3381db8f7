# SPDX-License-Identifier: Apache-2.0
"""The log of an engine about the calls that it receives."""

from nova_holistic.messaging.context import RequestContext
from nova_holistic.service.rpc_endpoint import Endpoint
from nova_holistic.table.errors import MemberUnknown

GROUP = '5f0c8a52-8a1f-4f0e-9d55-1f6f6bb2f6a1'


class NothingToRelease:
    def release(self, group_uuid, members):
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
