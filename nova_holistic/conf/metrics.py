# SPDX-License-Identifier: Apache-2.0
"""Options of the metrics for Prometheus."""

from oslo_config import cfg

GROUP = cfg.OptGroup('holistic_metrics', title='Metrics for Prometheus')

OPTS = [
    cfg.BoolOpt(
        'enabled', default=False,
        help='Whether the process serves counters and timings for Prometheus '
             'over HTTP, at /metrics on its own port. The port requires no '
             'authentication: restrict access to it with a firewall.'),
    cfg.HostAddressOpt(
        'address', default='127.0.0.1',
        help='IP address on which the process listens.'),
    cfg.PortOpt(
        'port', default=9898,
        help='Port on which the process listens. Processes of one machine '
             'with the same port share it if the environment variable '
             'PROMETHEUS_MULTIPROC_DIR names a directory: the first process '
             'serves the sums of all. Without the variable, the other '
             'processes serve no metrics.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
