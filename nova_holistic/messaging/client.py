# SPDX-License-Identifier: Apache-2.0
"""The client of the RPC API of engines, version 1.0."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic.messaging.bounded_calls import BoundedCalls
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging import error_documents
from nova_holistic.messaging import errors
from nova_holistic.messaging import payloads
from nova_holistic.messaging.results import Released, ShownBinding
from nova_holistic.messaging.transport import get_transport

LOG = logging.getLogger(__name__)

EXCHANGE = 'openstack'
"""It is set explicitly, because each service has its own default: the default
of nova-api differs from that of the engines."""
TOPIC = 'nova-holistic-engine'
VERSION = '1.0'
CALLS = 64
"""Maximum number of calls that wait for a broker that has never been
available."""


class ContextSerializer(messaging.Serializer):
    """Payloads are sent as plain JSON; a context is a RequestContext."""

    def __init__(self):
        self._entities = messaging.JsonPayloadSerializer()

    def serialize_entity(self, context, entity):
        return self._entities.serialize_entity(context, entity)

    def deserialize_entity(self, context, entity):
        return self._entities.deserialize_entity(context, entity)

    def serialize_context(self, context: RequestContext) -> dict:
        return context.to_document()

    def deserialize_context(self, context: Mapping) -> RequestContext:
        return RequestContext.from_document(context)


class EngineClient:
    """A cast only notifies engines of work in the table: engines also find the
    work when they poll the table. A call raises the error that the engine
    raised.

    Threads may share an instance.
    """

    def __init__(self, transport: messaging.Transport,
                 timeout: float | None = None):
        """:param timeout: seconds that a call waits for its answer; None is
            ``rpc_response_timeout``
        """
        self._timeout = timeout
        self._conf = transport.conf
        # The cast does not wait for an unavailable broker: see _cast.
        self._client = messaging.get_rpc_client(
            transport, messaging.Target(EXCHANGE, TOPIC, version=VERSION),
            serializer=ContextSerializer(), timeout=timeout, retry=1)
        self._calls = BoundedCalls(CALLS)
        self._answered = False

    @classmethod
    def from_conf(cls, conf) -> 'EngineClient':
        return cls(get_transport(conf))

    def plan_group(self, context: RequestContext, group_uuid: str) -> None:
        """Notify engines that the group has a task in the table."""
        self._cast(context, 'plan_group', payloads.GroupPayload(group_uuid))

    def plan(self, context: RequestContext, plan_uuid: str) -> None:
        """Notify engines that the table contains a plan that no engine has
        made."""
        self._cast(context, 'plan', payloads.PlanPayload(plan_uuid))

    def release(self, context: RequestContext, group_uuid: str,
                members: Collection[str] | None = None,
                revision: int | None = None) -> Released:
        """See ``Lifecycle.release``."""
        answer = self._call(context, 'release', payloads.Release(
            group_uuid, None if members is None else tuple(members),
            revision))
        return Released(tuple(answer['released']), tuple(answer['kept']))

    def extend(self, context: RequestContext, group_uuid: str,
               seconds: int, revision: int | None = None) -> None:
        """See ``Lifecycle.extend``; the table has the new end."""
        self._call(context, 'extend', payloads.Extend(
            group_uuid, seconds, revision))

    def delete(self, context: RequestContext, group_uuid: str,
               revision: int | None = None) -> None:
        """See ``Lifecycle.delete``."""
        self._call(context, 'delete', payloads.Delete(group_uuid, revision))

    def repair(self, context: RequestContext,
               group_uuid: str) -> Mapping[str, Any]:
        """See ``Repairer.propose``: the document of the proposal."""
        return self._call(context, 'repair', payloads.GroupPayload(group_uuid))

    def bind(self, context: RequestContext, group_uuid: str, path: str,
             server_group: str) -> ShownBinding:
        """See ``Binder.bind``."""
        return ShownBinding(**self._call(context, 'bind', payloads.Bind(
            group_uuid, path, server_group)))

    def bindings(self, context: RequestContext,
                 group_uuid: str) -> Sequence[ShownBinding]:
        """See ``Binder.bindings``."""
        return [ShownBinding(**binding) for binding in self._call(
            context, 'bindings', payloads.GroupPayload(group_uuid))]

    def update_resource_stats(self, context: RequestContext, name: str,
                              stats: Mapping[str, float]) -> None:
        """Send statistics that were measured on a host.

        :param name: of the host
        :param stats: name to finite number
        :raises HostUnknown: the inventory has no such host
        """
        self._call(context, 'update_resource_stats',
                   payloads.HostStatistics(name, stats))

    def _cast(self, context: RequestContext, method: str,
              payload: payloads.Payload) -> None:
        """A lost message loses no work, because engines poll the table for
        tasks."""
        try:
            self._client.cast(context, method, **payload.to_document())
        except Exception as error:
            # If the broker has never been available, the error comes from the
            # library of the driver.
            LOG.warning('The message to engines about %s %s was not sent; '
                        'they will find it when they poll the table: '
                        '%s', method, payload, error)

    def _call(self, context: RequestContext, method: str,
              payload: payloads.Payload) -> Any:
        """
        :raises EngineUnreachable: there is no answer
        :raises EngineFailed: an unexpected error occurred in the engine
        :raises HolisticError: any error that the engine raised
        """
        try:
            answer = self._call_within_timeout(lambda: self._client.call(
                context, method, **payload.to_document()))
        except messaging.RemoteError as error:
            # Only engines of an earlier version raise an error.
            raise errors.EngineFailed(
                f'an engine failed to carry out {method}: '
                f'{error.exc_type}') from error
        except Exception as error:
            raise errors.EngineUnreachable(
                f'no engine answered {method}: '
                f'{type(error).__name__}') from error
        self._answered = True
        if 'error' in answer:
            raise error_documents.from_document(answer['error'])
        return answer['result']

    def _call_within_timeout(self, call: Callable[[], Any]) -> Any:
        """
        :raises TimeoutError: there is no answer
        """
        if self._answered:
            return call()
        # Until the queue of answers exists, the library waits for it and for
        # the broker without a time limit.
        seconds = self._timeout
        if seconds is None:
            seconds = self._conf.rpc_response_timeout
        return self._calls(call, seconds)
