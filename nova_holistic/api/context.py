# SPDX-License-Identifier: Apache-2.0
"""The user and project of a request."""

from collections.abc import Mapping
from typing import Any

from keystoneauth1.plugin import BaseAuthPlugin
from oslo_context import context as oslo_context

from nova_holistic.federation.credentials import forwarded_token
from nova_holistic.messaging.context import RequestContext as EngineContext

IDENTITY_STATUS = 'HTTP_X_IDENTITY_STATUS'


class RequestContext(oslo_context.RequestContext):
    """The data that keystonemiddleware read from a request's token.

    After its creation, the logs of this thread refer to it.

    :ivar auth: keystoneauth plug-in with the token; None if the request has
        no valid token
    :ivar parents: the parents of a federation through which the request has
        come, outermost first; only if this service is a parent
    """

    auth: BaseAuthPlugin | None = None
    parents: tuple[str, ...] = ()

    def for_engine(self) -> EngineContext:
        return EngineContext(request_id=self.request_id,
                             project_id=self.project_id,
                             user_id=self.user_id, auth=self.auth,
                             parents=self.parents)


def from_environ(environ: Mapping[str, Any]) -> RequestContext:
    """The context of a request; without user and project if it has no valid
    token.

    The headers come from keystonemiddleware, which removes those that a client
    sends.
    """
    if environ.get(IDENTITY_STATUS) == 'Confirmed':
        context = RequestContext.from_environ(environ)
        context.auth = forwarded_token.of_request(environ)
        return context
    request_id = environ.get('openstack.request_id')
    return RequestContext(**({'request_id': request_id} if request_id else {}))
