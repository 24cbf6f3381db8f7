# SPDX-License-Identifier: Apache-2.0
"""On whose behalf a request is made."""

from collections.abc import Mapping
from typing import Any

from oslo_context import context as oslo_context

from nova_holistic.messaging.context import RequestContext as EngineContext

IDENTITY_STATUS = 'HTTP_X_IDENTITY_STATUS'


class RequestContext(oslo_context.RequestContext):
    """What keystonemiddleware found out about a request's token.

    From its making on, it is what this thread logs with.
    """

    def for_engine(self) -> EngineContext:
        return EngineContext(request_id=self.request_id,
                             project_id=self.project_id,
                             user_id=self.user_id)


def from_environ(environ: Mapping[str, Any]) -> RequestContext:
    """That of a request; without user and project where it has no good token.

    The headers are keystonemiddleware's: it drops those that a client sends.
    """
    if environ.get(IDENTITY_STATUS) == 'Confirmed':
        return RequestContext.from_environ(environ)
    known = environ.get('openstack.request_id')
    return RequestContext(**({'request_id': known} if known else {}))
