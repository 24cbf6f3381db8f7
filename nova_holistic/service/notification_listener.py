# SPDX-License-Identifier: Apache-2.0
"""Listens to Nova's versioned notifications.

A notification is only a hint that something has changed: the engine reads the
current state from Nova. So a notification that is late, lost or sent twice
does no harm, and the passes of the reconciler find the changes that no
notification reported.
"""

from collections.abc import Collection, Mapping
import threading
from typing import Any, Protocol

from oslo_log import log as logging
import oslo_messaging as messaging

LOG = logging.getLogger(__name__)

SERVER_EVENTS = (
    r'^(instance\.(.+\.(end|error)|update)|compute_task\..+\.error)$')
"""Types of notifications about servers that have changed."""

HOST_EVENTS = r'^(service\..+|aggregate\..+\.end)$'
"""Types of notifications about services and aggregates."""

COMPUTE = 'nova-compute'

ENDS = ('error', 'deleted')
"""States of a server that will not be built."""


class ChangeReceiver(Protocol):
    """Receives the reported changes. Its methods return immediately."""

    def server_changed(self, instance_uuid: str) -> None:
        """Something has happened to a server."""

    def use_changed(self, hosts: Collection[str]) -> None:
        """The use of compute hosts may have changed."""

    def hosts_changed(self) -> None:
        """A service or an aggregate of hosts has changed."""


class ServerEvents:
    """Receives notifications about servers. See oslo.messaging's
    NotificationDispatcher for the methods."""

    filter_rule = messaging.NotificationFilter(event_type=SERVER_EVENTS)

    def __init__(self, changes: ChangeReceiver):
        self._changes = changes

    def info(self, context, publisher_id: str, event_type: str,
             payload: Any, metadata: Mapping[str, Any]) -> None:
        data = _data(payload)
        if event_type != 'instance.update':
            self._changes.use_changed(_hosts(publisher_id, data))
        uuid = data.get('uuid') or data.get('instance_uuid')
        if not isinstance(uuid, str) or not 0 < len(uuid) <= 36:
            LOG.debug('A notification %s names no server', event_type)
        elif event_type != 'instance.update' or _ends_a_server(data):
            self._changes.server_changed(uuid)

    error = info


class HostEvents:
    """Receives notifications about services and aggregates."""

    filter_rule = messaging.NotificationFilter(event_type=HOST_EVENTS)

    def __init__(self, changes: ChangeReceiver):
        self._changes = changes

    def info(self, context, publisher_id: str, event_type: str,
             payload: Any, metadata: Mapping[str, Any]) -> None:
        binary = _data(payload).get('binary', COMPUTE)
        if not event_type.startswith('service.') or binary == COMPUTE:
            self._changes.hosts_changed()

    error = info


class NotificationListener:
    """Engines of one pool share the notifications. A separate thread waits for
    a message bus that does not answer, so that nothing else is delayed."""

    def __init__(self, conf, transport: messaging.Transport,
                 changes: ChangeReceiver):
        options = conf.nova_notifications
        self._listener = messaging.get_notification_listener(
            transport,
            [messaging.Target(options.exchange, topic)
             for topic in options.topics],
            [ServerEvents(changes), HostEvents(changes)],
            executor='threading', pool=options.pool)
        self._listening = threading.Event()
        self._thread = threading.Thread(
            target=self._listen, daemon=True, name='notifications')

    def start(self) -> None:
        """Begin to listen; returns immediately."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Receive no further notification.

        :param timeout: seconds to wait for notifications being received
        """
        if not self._listening.is_set():
            return
        stopping = threading.Thread(
            target=self._stop, daemon=True, name='notifications-stop')
        stopping.start()
        stopping.join(timeout)

    def wait_until_listening(self, timeout: float) -> bool:
        """For tests: whether the listener receives notifications after at most
        this number of seconds."""
        return self._listening.wait(timeout)

    def _listen(self) -> None:
        try:
            self._listener.start()
        except Exception:
            LOG.exception('The engine does not receive notifications of Nova')
            return
        self._listening.set()

    def _stop(self) -> None:
        self._listener.stop()
        self._listener.wait()


def _data(payload: Any) -> Mapping[str, Any]:
    """The fields of a versioned payload; none if it is something else."""
    data = payload.get('nova_object.data') if isinstance(
        payload, Mapping) else None
    return data if isinstance(data, Mapping) else {}


def _hosts(publisher_id: str | None,
           data: Mapping[str, Any]) -> frozenset[str]:
    """Names of the hosts that a notification about a server names: that of
    the server, and that of the nova-compute that sent it."""
    binary, _, sender = (publisher_id or '').partition(':')
    names = {data.get('host'), sender if binary == COMPUTE else None}
    return frozenset(
        name for name in names if isinstance(name, str) and name)


def _ends_a_server(data: Mapping[str, Any]) -> bool:
    """Whether an instance.update reports a server in ERROR or deleted.

    Nova sends many others while it builds or moves a server, and another
    notification at the end.
    """
    update = _data(data.get('state_update'))
    return update.get('state') in ENDS and update.get('old_state') not in ENDS
