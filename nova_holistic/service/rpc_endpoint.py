# SPDX-License-Identifier: Apache-2.0
"""The methods of the RPC API of engines, version 1.0."""

from collections.abc import Callable
import functools
from typing import Any

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic.engine.binding.binder import Binder
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic import exceptions
from nova_holistic.messaging.client import VERSION
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging import error_documents
from nova_holistic.messaging import errors
from nova_holistic.messaging import payloads
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.service.statistics_writer import StatisticsWriter
from nova_holistic.service.workers import Workers

LOG = logging.getLogger(__name__)

MAX_LOGGED = 500
"""Characters of a payload in a log line: it may name thousands of members.
"""


def _rpc_method(payload_type: type[payloads.Payload]) -> Callable:
    """A method whose arguments form a payload, and whose errors are returned
    instead of raised."""
    def wrap(method: Callable) -> Callable:
        @functools.wraps(method)
        def answer(self, context: RequestContext, **arguments: Any) -> dict:
            with context.logged():
                try:
                    payload = payload_type.from_document(arguments)
                    LOG.info('%s: %s', method.__name__,
                             str(payload)[:MAX_LOGGED])
                    return {'result': method(self, payload)}
                except exceptions.HolisticError as error:
                    LOG.info('%s is refused: %s', method.__name__, error)
                    return {'error': error_documents.to_document(error)}
                except Exception as error:
                    # The messaging library raises an error of Python's own
                    # classes unchanged in the client, which takes it for an
                    # engine that did not answer.
                    LOG.exception('%s failed', method.__name__)
                    failed = errors.EngineFailed(
                        'an engine failed to carry out '
                        f'{method.__name__}: {type(error).__name__}')
                    return {'error': error_documents.to_document(failed)}

        return answer

    return wrap


class Endpoint:
    """Methods that a client of version 1.0 may call."""

    target = messaging.Target(version=VERSION)

    def __init__(self, workers: Workers, lifecycle: Lifecycle,
                 statistics: StatisticsWriter,
                 repairer: Repairer | None = None,
                 binder: Binder | None = None):
        self._workers = workers
        self._lifecycle = lifecycle
        self._statistics = statistics
        self._repairer = repairer
        self._binder = binder

    @_rpc_method(payloads.GroupPayload)
    def plan_group(self, payload: payloads.GroupPayload) -> None:
        self._workers.offer('group', payload.group_uuid)

    @_rpc_method(payloads.PlanPayload)
    def plan(self, payload: payloads.PlanPayload) -> None:
        self._workers.offer('plan', payload.plan_uuid)

    @_rpc_method(payloads.Release)
    def release(self, payload: payloads.Release) -> dict[str, list[str]]:
        outcome = self._lifecycle.release(
            payload.group_uuid, payload.members, payload.revision)
        return {'released': list(outcome.released), 'kept': list(outcome.kept)}

    @_rpc_method(payloads.Extend)
    def extend(self, payload: payloads.Extend) -> None:
        self._lifecycle.extend(
            payload.group_uuid, payload.seconds, payload.revision)

    @_rpc_method(payloads.Delete)
    def delete(self, payload: payloads.Delete) -> None:
        self._lifecycle.delete(payload.group_uuid, payload.revision)

    @_rpc_method(payloads.GroupPayload)
    def repair(self, payload: payloads.GroupPayload) -> dict[str, Any]:
        if self._repairer is None:
            raise errors.EngineFailed('this engine repairs no groups')
        return self._repairer.propose(payload.group_uuid).to_document()

    @_rpc_method(payloads.Bind)
    def bind(self, payload: payloads.Bind) -> dict[str, Any]:
        return self._bound().bind(
            payload.group_uuid, payload.path,
            payload.server_group).to_document()

    @_rpc_method(payloads.GroupPayload)
    def bindings(self, payload: payloads.GroupPayload) -> list[dict[str, Any]]:
        return [binding.to_document()
                for binding in self._bound().bindings(payload.group_uuid)]

    def _bound(self) -> Binder:
        if self._binder is None:
            raise errors.EngineFailed('this engine binds no server groups')
        return self._binder

    @_rpc_method(payloads.HostStatistics)
    def update_resource_stats(self, payload: payloads.HostStatistics) -> None:
        self._statistics.put(payload.name, payload.stats)
