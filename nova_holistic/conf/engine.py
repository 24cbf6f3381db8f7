# SPDX-License-Identifier: Apache-2.0
"""Options of the engines."""

from oslo_config import cfg

GROUP = cfg.OptGroup('engine', title='Engines')

OPTS = [
    cfg.StrOpt(
        'host', default='',
        help='Name of this machine among those that run engines; empty is '
             'its host name.'),
    cfg.IntOpt(
        'workers', default=2, min=1, max=64,
        help='How many groups one engine plans at once.'),
    cfg.FloatOpt(
        'heartbeat', default=5.0, min=0.05,
        help='Seconds between two signs of life of an engine, for what it is '
             'working on.'),
    cfg.FloatOpt(
        'stale_after', default=60.0, min=0.2,
        help='Seconds without a sign of life after which the work of an '
             'engine is taken over by another, by the clock of the database. '
             'It should be several times the heartbeat, and longer than a '
             'request to Placement takes.'),
    cfg.FloatOpt(
        'pickup_interval', default=5.0, min=0.05,
        help='Seconds between two looks for work of which no message has '
             'told: one was lost, or an engine was.'),
    cfg.IntOpt(
        'attempts', default=3, min=1,
        help='How many engines may die over one group, or one plan, before '
             'it is given up.'),
    cfg.FloatOpt(
        'shutdown_timeout', default=30.0, min=0.0,
        help='Seconds that an engine told to stop takes to finish what it '
             'is planning. What is not finished then is handed back for '
             'others.'),
    cfg.FloatOpt(
        'lease_interval', default=15.0, min=0.05,
        help='Seconds between two looks, by whichever engine, for leases '
             'that have passed.'),
    cfg.FloatOpt(
        'reconcile_interval', default=60.0, min=0.0,
        help='Seconds between two passes of the reconciler, by whichever '
             'engine. 0 is no passes at all: nova-holistic-manage reconcile '
             'is then to be run from cron.'),
    cfg.IntOpt(
        'plan_retention', default=86400, min=1,
        help='Seconds for which plans that hold nothing are remembered.'),
    cfg.IntOpt(
        'event_retention', default=90, min=0,
        help='Days for which the history of groups is kept, beside that of '
             'deleted groups, which is deleted with them. 0 keeps it.'),
    cfg.IntOpt(
        'statistics_max_age', default=900, min=1,
        help='Seconds after which statistics of a host count no more.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
