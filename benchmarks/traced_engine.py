# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.traced_engine TRACE PORTS OPTIONS``: an engine
that records its timings.

Each timing of ``nova_holistic.metrics`` becomes a line of JSON in the file
TRACE, as do each transaction on the placement table and each HTTP request.
PORTS is a JSON object: port by name of the service.
``benchmarks.steps`` describes the lines. OPTIONS are those of
nova-holistic-engine.
"""

import contextlib
import functools
import json
import sys
import threading
import time
from urllib import parse

import requests

from nova_holistic.cli import engine
from nova_holistic.metrics import instruments
from nova_holistic.table.database import Database


class Trace:
    """A file of spans, to which all threads write."""

    def __init__(self, path):
        self._file = open(path, 'a', buffering=1)
        self._lock = threading.Lock()

    def add(self, name, begin, end, **labels):
        line = json.dumps({
            'name': name, 'labels': labels, 'begin': begin, 'end': end,
            'thread': threading.get_ident()})
        with self._lock:
            self._file.write(line + '\n')


class Recorder:
    """Receives what a Timing observes, as a metric of prometheus_client."""

    def __init__(self, trace, name, labels=None):
        self._trace = trace
        self._name = name
        self._labels = labels or {}

    def labels(self, **labels):
        return Recorder(self._trace, self._name, labels)

    def observe(self, seconds):
        end = time.monotonic()
        self._trace.add(self._name, end - seconds, end, **self._labels)


def record_timings(trace):
    for each in instruments.ALL:
        if isinstance(each, instruments.Timing):
            each.bind(Recorder(trace, each.name))


TRANSACTIONS = {'reader': 'read', 'link': 'read', 'view': 'read',
                'writer': 'write', 'link_writer': 'write'}
"""Kinds of transactions by the method of ``Database`` that begins them."""


def record_transactions(trace):
    """Reading and writing the placement table, commit included."""
    for method, kind in TRANSACTIONS.items():
        setattr(Database, method, _timed(
            getattr(Database, method), trace, kind))


def _timed(transaction, trace, kind):
    @contextlib.contextmanager
    @functools.wraps(transaction)
    def timed(*args, **kwargs):
        begin = time.monotonic()
        try:
            with transaction(*args, **kwargs) as session:
                yield session
        finally:
            trace.add('table', begin, time.monotonic(), kind=kind)
    return timed


def record_requests(trace, services):
    """Requests of all sessions, bodies included.

    :param services: names by port; a request to another port is ``other``
    """
    send = requests.Session.send

    @functools.wraps(send)
    def timed(session, request, **options):
        begin, status = time.monotonic(), None
        try:
            response = send(session, request, **options)
            status = response.status_code
            return response
        finally:
            service = services.get(parse.urlsplit(request.url).port, 'other')
            trace.add('http', begin, time.monotonic(), service=service,
                      method=request.method, status=status)

    requests.Session.send = timed


def main():
    path, services, *options = sys.argv[1:]
    trace = Trace(path)
    record_timings(trace)
    record_transactions(trace)
    record_requests(trace, {
        port: name for name, port in json.loads(services).items()})
    return engine.main(options)


if __name__ == '__main__':
    sys.exit(main())
