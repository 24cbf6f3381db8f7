# SPDX-License-Identifier: Apache-2.0
"""An engine stops in bounded time even if a service does not respond."""

import threading
import types

from oslo_config import cfg
import oslo_messaging as messaging
import pytest

from nova_holistic import conf as options
from nova_holistic.service import service
from nova_holistic.service.service import EngineParts, EngineService
from tests.unit.table.builders import NOON

LONG = 300.0


@pytest.fixture
def start(table):
    """Start engines whose periodic tasks do nothing."""
    transports = []

    def begin():
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[])
        transport = messaging.get_rpc_transport(conf, url='fake://')
        transports.append(transport)
        idle = types.SimpleNamespace(
            expire=tuple, reconcile=lambda pace: {})
        engine = EngineService(
            conf, EngineParts(table, None, None, idle, idle), transport,
            lambda: NOON)
        engine.start()
        return engine

    yield begin
    for transport in transports:
        transport.cleanup()


def test_an_idle_engine_leaves_no_thread(start):
    assert start().stop()


def test_an_engine_stops_if_the_table_does_not_answer(
        start, table, monkeypatch):
    """The process must not wait for the thread when it exits."""
    monkeypatch.setattr(service, 'CLEANUP_TIMEOUT', 0.2)
    begun, go_on = threading.Event(), threading.Event()

    def waiting(stale_before, limit):
        begun.set()
        assert go_on.wait(LONG)
        return ()

    monkeypatch.setattr(table.tasks, 'waiting', waiting)
    engine = start()
    assert begun.wait(LONG)
    try:
        assert not engine.stop()
    finally:
        go_on.set()
