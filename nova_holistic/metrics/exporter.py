# SPDX-License-Identifier: Apache-2.0
"""Serves the instruments of this process to Prometheus.

Processes that share a port need PROMETHEUS_MULTIPROC_DIR. Each process writes
its values into files in this directory, and the process that listens on the
port serves the sums.
"""

from collections.abc import Callable, Mapping, Sequence
import errno
import importlib.util
import os
import threading
from typing import Any

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.metrics import instruments
from nova_holistic.table.history.events import Event

LOG = logging.getLogger(__name__)

DIRECTORY = 'PROMETHEUS_MULTIPROC_DIR'
GAUGES = {
    'groups': ('Groups by status.', 'status'),
    'members': ('Members by state.', 'state'),
    'tasks': ('Groups that wait for an engine, or on which one works.',
              'task'),
}
"""Gauges that engines read from the table for each scrape: description and
label."""

Totals = Callable[[], Mapping[str, Mapping[str, int]]]
"""Returns the numbers by gauge and label."""

_lock = threading.Lock()
_started: int | None = None


class NotInstalled(exceptions.HolisticError):
    """prometheus_client is not installed."""


def start(conf, totals: Totals | None = None) -> None:
    """Serve metrics, once per process, if [holistic_metrics] enabled is true.

    A forked worker serves its own metrics and also calls this function.

    :param totals: reads the totals of the placement table; None omits the
    gauges
    """
    global _started
    if not conf.holistic_metrics.enabled or _started == os.getpid():
        return
    with _lock:
        if _started != os.getpid():
            _start(conf, totals)
            _started = os.getpid()


def must_be_installed(conf) -> None:
    """:raises NotInstalled: the options enable metrics, and prometheus_client
    is not installed"""
    if conf.holistic_metrics.enabled and (
            importlib.util.find_spec('prometheus_client') is None):
        raise NotInstalled(
            '[holistic_metrics] enabled needs prometheus_client: pip install '
            'nova_holistic[metrics]')


def bind(totals: Totals | None = None) -> Any:
    """Connect the instruments to a registry.

    :returns: the registry with the metrics of the instruments
    """
    import prometheus_client
    from prometheus_client import multiprocess

    shared = DIRECTORY in os.environ
    registry = prometheus_client.CollectorRegistry()
    if shared:
        multiprocess.MultiProcessCollector(registry)
    own = None if shared else registry
    for each in instruments.ALL:
        if isinstance(each, instruments.Timing):
            each.bind(prometheus_client.Histogram(
                each.name, each.text, each.labels, registry=own,
                buckets=each.buckets))
        else:
            each.bind(prometheus_client.Counter(
                each.name, each.text, each.labels, registry=own))
    if totals is not None:
        registry.register(_Gauges(totals))
    return registry


def unbind() -> None:
    """Disconnect the instruments, which then have no effect."""
    for each in instruments.ALL:
        each.bind(None)


def count(events: Sequence[Event]) -> None:
    """Count the events of groups. The function is a listener of a Database."""
    for event in events:
        instruments.CHANGES.add(
            (event.details or {}).get('members', 1)
            if event.to_state is not None else 1,
            kind=str(event.kind), to_state=event.to_state or '')


class _Gauges:
    """Reads the table for each scrape."""

    def __init__(self, totals: Totals):
        self._totals = totals

    def describe(self) -> Sequence[Any]:
        # Without this method, the registration would read the table.
        return ()

    def collect(self) -> Sequence[Any]:
        from prometheus_client.core import GaugeMetricFamily

        try:
            totals = self._totals()
        except exceptions.HolisticError as error:
            LOG.warning('Groups are not counted for Prometheus: %s', error)
            return ()
        gauges = []
        for name, (text, label) in GAUGES.items():
            gauge = GaugeMetricFamily(
                instruments.PREFIX + name, text, labels=[label])
            for value, number in totals[name].items():
                gauge.add_metric([value], number)
            gauges.append(gauge)
        return gauges


def _start(conf, totals: Totals | None) -> None:
    try:
        registry = bind(totals)
    except (OSError, ValueError) as error:
        # ValueError: the directory does not exist. The service works without
        # metrics, as it does if the port is in use.
        unbind()
        LOG.error('Metrics are not served, because the directory %s cannot be '
                  'used: %s', os.environ.get(DIRECTORY), error)
        return
    _serve(registry, conf.holistic_metrics.address,
           conf.holistic_metrics.port)


def _serve(registry: Any, address: str, port: int) -> None:
    import prometheus_client

    try:
        prometheus_client.start_http_server(port, address, registry)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            LOG.error('Metrics are not served at %s:%s: %s', address, port,
                      error)
        elif DIRECTORY in os.environ:
            LOG.info('Another process serves the metrics of this one at '
                     '%s:%s', address, port)
        else:
            LOG.warning('Port %s of %s is in use: the metrics of this '
                        'process are not served. Let processes share a port '
                        'with %s', port, address, DIRECTORY)
