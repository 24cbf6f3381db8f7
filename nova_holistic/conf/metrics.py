# SPDX-License-Identifier: Apache-2.0
"""Options of the metrics for Prometheus."""

from oslo_config import cfg

GROUP = cfg.OptGroup('holistic_metrics', title='Metrics for Prometheus')

OPTS = [
    cfg.BoolOpt(
        'enabled', default=False,
        help='Whether the process serves counters and timings for Prometheus '
             'over HTTP, at /metrics on a port of its own. Whoever reaches '
             'the port can read them: no token is asked for.'),
    cfg.HostAddressOpt(
        'address', default='127.0.0.1',
        help='Address to listen on.'),
    cfg.PortOpt(
        'port', default=9898,
        help='Port to listen on. Processes of one machine that are '
             'configured alike share the port if the environment variable '
             'PROMETHEUS_MULTIPROC_DIR names a directory: the first one '
             'serves the sums of all. Without it, the others serve nothing.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
