# SPDX-License-Identifier: Apache-2.0
"""Receives the messages of an engine in threads of its own."""

import threading

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic.messaging.client import ContextSerializer, EXCHANGE, TOPIC
from nova_holistic.service.endpoint import Endpoint

LOG = logging.getLogger(__name__)


class RpcServer:
    """An engine that cannot hear works on: what it is told is in the table.

    So a broker that is away is waited for by a thread of its own.
    """

    def __init__(self, transport: messaging.Transport, engine: str,
                 endpoint: Endpoint):
        self._server = messaging.get_rpc_server(
            transport, messaging.Target(EXCHANGE, TOPIC, server=engine),
            [endpoint], executor='threading', serializer=ContextSerializer(),
            access_policy=messaging.DefaultRPCAccessPolicy)
        self._listening = threading.Event()
        self._thread = threading.Thread(
            target=self._listen, daemon=True, name='rpc-server')

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Hear nothing more.

        :param timeout: seconds to wait for what is being answered
        """
        if not self._listening.is_set():
            return
        ending = threading.Thread(
            target=self._end, daemon=True, name='rpc-server-stop')
        ending.start()
        ending.join(timeout)

    def wait_until_listening(self, timeout: float) -> bool:
        """For tests: whether messages come in by then."""
        return self._listening.wait(timeout)

    def _listen(self) -> None:
        try:
            self._server.start()
        except Exception:
            LOG.exception('No messages are heard')
            return
        self._listening.set()

    def _end(self) -> None:
        self._server.stop()
        self._server.wait()
