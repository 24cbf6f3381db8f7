# SPDX-License-Identifier: Apache-2.0
"""Engines send each other the changes that Nova's notifications have reported.

All engines are one pool of listeners, so each notification reaches one of
them. That engine casts the names of changed hosts to all others, and each
engine marks them in its own cached snapshot.

A separate pool for each engine would have the same effect, but oslo.messaging
never deletes the queue of a pool, and the notifications accumulate there after
the engine has stopped. RabbitMQ deletes the queue of fanout casts when no
consumer has read it for ``[oslo_messaging_rabbit]
rabbit_transient_queues_ttl`` seconds.
"""

from collections.abc import Callable, Collection
import threading
from typing import Any

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.messaging.client import ContextSerializer, EXCHANGE, TOPIC
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging import errors, payloads
from nova_holistic.service.notification_listener import ChangeReceiver

LOG = logging.getLogger(__name__)

VERSION = '1.1'
"""Version of the RPC API with which engines send each other changes."""
SPACING = 1.0
"""Seconds between two casts. Engines read marked hosts as often."""

Cast = Callable[[payloads.CloudChanges], None]


class SharedChanges:
    """Forwards the changes that were reported to this engine, and collects
    those that are sent to the other engines. One cast contains many changes.

    See ``notification_listener.ChangeReceiver``.
    """

    def __init__(self, changes: ChangeReceiver, engine: str, cast: Cast):
        """
        :param changes: receives all changes immediately
        :param engine: the id of this engine
        :param cast: sends to all engines
        """
        self._changes = changes
        self._engine = engine
        self._cast = cast
        self._lock = threading.Lock()
        self._hosts: set[str] = set()
        self._nova = False

    def server_changed(self, instance_uuid: str) -> None:
        # The other engines read the change from the placement table.
        self._changes.server_changed(instance_uuid)

    def use_changed(self, hosts: Collection[str]) -> None:
        with self._lock:
            self._hosts.update(hosts)
        self._changes.use_changed(hosts)

    def hosts_changed(self) -> None:
        with self._lock:
            self._nova = True
        self._changes.hosts_changed()

    def send(self) -> bool:
        """Send the changes since the last call to the other engines. The
        caller repeats the call every ``SPACING`` seconds.

        If the message bus does not answer, the changes are dropped: the
        comparison of the cached snapshot finds them, or Placement refuses a
        hold.

        :returns: whether anything was sent
        :raises EngineUnreachable: the message bus does not answer
        """
        with self._lock:
            hosts, nova = self._hosts, self._nova
            self._hosts, self._nova = set(), False
        if not hosts and not nova:
            return False
        names = sorted(hosts)
        for begin in range(0, max(1, len(names)), payloads.MAX_HOSTS):
            self._cast(payloads.CloudChanges(
                self._engine,
                tuple(names[begin:begin + payloads.MAX_HOSTS]), nova))
        return True


def fanout(transport: messaging.Transport) -> Cast:
    """A function that sends changes to all engines that run."""
    client = messaging.get_rpc_client(
        transport, messaging.Target(
            EXCHANGE, TOPIC, version=VERSION, fanout=True),
        serializer=ContextSerializer(), retry=1)

    def cast(changes: payloads.CloudChanges) -> None:
        try:
            client.cast(RequestContext(), 'cloud_changed',
                        **changes.to_document())
        except Exception as error:
            # The error depends on the library that the driver uses.
            raise errors.EngineUnreachable(
                f'the message bus does not answer: {error}') from error

    return cast


class ChangesEndpoint:
    """Receives the changes that other engines send."""

    target = messaging.Target(version=VERSION)

    def __init__(self, engine: str, inventory: CloudInventory):
        """:param engine: the id of this engine, which also receives its own
        casts"""
        self._engine = engine
        self._inventory = inventory

    def cloud_changed(self, context: RequestContext,
                      **arguments: Any) -> None:
        """Mark the changed hosts and services."""
        try:
            changes = payloads.CloudChanges.from_document(arguments)
        except exceptions.InvalidDocument as error:
            LOG.warning('A message about changes is ignored: %s', error)
            return
        if changes.engine == self._engine:
            return
        self._inventory.mark_hosts(changes.hosts)
        if changes.nova:
            self._inventory.mark_nova()
