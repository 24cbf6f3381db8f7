# SPDX-License-Identifier: Apache-2.0
"""Options of the engines."""

from oslo_config import cfg

from nova_holistic.conf.times import MAX_DAYS, MAX_SECONDS

GROUP = cfg.OptGroup('engine', title='Engines')

OPTS = [
    cfg.StrOpt(
        'host', default='',
        help='Name of this machine in the list of engines. If empty, the host '
             'name.'),
    cfg.IntOpt(
        'workers', default=2, min=1, max=64,
        help='Maximum number of groups that one engine plans at the same '
             'time.'),
    cfg.FloatOpt(
        'heartbeat', default=5.0, min=0.05, max=MAX_SECONDS,
        help='Interval in seconds between two heartbeats that an engine '
             'writes for its tasks.'),
    cfg.FloatOpt(
        'stale_after', default=60.0, min=0.2, max=MAX_SECONDS,
        help='Seconds without a heartbeat after which another engine takes '
             'over the tasks of an engine, by the clock of the database. Set '
             'it to several times the heartbeat interval, and above the time '
             'that a request to Placement takes.'),
    cfg.FloatOpt(
        'pickup_interval', default=5.0, min=0.05, max=MAX_SECONDS,
        help='Interval in seconds at which an engine polls the table for '
             'tasks without a message, because the message was lost or '
             'because the engine that received it failed.'),
    cfg.IntOpt(
        'attempts', default=3, min=1,
        help='Maximum number of attempts at one piece of work, for example at '
             'the plan of one group or the creation of its servers. An '
             'attempt counts if the engine is killed or an unexpected error '
             'occurs, but not if a service is unavailable. After that, the '
             'work fails.'),
    cfg.FloatOpt(
        'shutdown_timeout', default=30.0, min=0.0, max=MAX_SECONDS,
        help='Seconds in which a stopping engine finishes its current plans. '
             'After that, it returns the unfinished tasks to the table for '
             'other engines.'),
    cfg.FloatOpt(
        'lease_interval', default=15.0, min=0.05, max=MAX_SECONDS,
        help='Interval in seconds at which one of the engines searches for '
             'expired leases.'),
    cfg.FloatOpt(
        'reconcile_interval', default=60.0, min=0.0, max=MAX_SECONDS,
        help='Interval in seconds between two passes of the reconciler in one '
             'of the engines. 0 disables the passes: run nova-holistic-manage '
             'reconcile from cron instead.'),
    cfg.IntOpt(
        'plan_retention', default=86400, min=1, max=MAX_SECONDS,
        help='Seconds for which the table keeps plans without holds.'),
    cfg.IntOpt(
        'event_retention', default=90, min=0, max=MAX_DAYS,
        help='Days for which the table keeps the history of groups. The '
             'history of a deleted group is deleted with the group. 0 keeps '
             'the history permanently.'),
    cfg.IntOpt(
        'statistics_max_age', default=900, min=1, max=MAX_SECONDS,
        help='Seconds after which the scheduler ignores statistics of a '
             'host.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
