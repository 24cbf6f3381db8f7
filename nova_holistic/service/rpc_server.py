# SPDX-License-Identifier: Apache-2.0
"""Receives the messages to an engine."""

import threading
from typing import Any

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic.messaging.client import ContextSerializer, EXCHANGE, TOPIC

LOG = logging.getLogger(__name__)


class RpcServer:
    """An engine works even if no message arrives: all work is in the table.

    So a separate thread waits for the broker. The wait may never end, and a
    process waits for the threads of futurist when it exits. So the threads
    here are daemon threads of the standard library.
    """

    def __init__(self, transport: messaging.Transport, engine: str,
                 *endpoints: Any):
        """:param endpoints: objects whose methods can be called, see
            oslo.messaging
        """
        self._server = messaging.get_rpc_server(
            transport, messaging.Target(EXCHANGE, TOPIC, server=engine),
            endpoints, executor='threading', serializer=ContextSerializer(),
            access_policy=messaging.DefaultRPCAccessPolicy)
        self._listening = threading.Event()
        self._thread = threading.Thread(
            target=self._listen, daemon=True, name='rpc-server')

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Receive no further message.

        :param timeout: seconds to wait for the calls that are being answered
        """
        if not self._listening.is_set():
            return
        ending = threading.Thread(
            target=self._end, daemon=True, name='rpc-server-stop')
        ending.start()
        ending.join(timeout)

    def wait_until_listening(self, timeout: float) -> bool:
        """For tests: whether the server receives messages after at most this
        number of seconds."""
        return self._listening.wait(timeout)

    def _listen(self) -> None:
        try:
            self._server.start()
        except Exception:
            LOG.exception('No messages are received')
            return
        self._listening.set()

    def _end(self) -> None:
        self._server.stop()
        self._server.wait()
