# SPDX-License-Identifier: Apache-2.0
"""Options of the planner."""

from oslo_config import cfg

from nova_holistic.conf.times import MAX_SECONDS

GROUP = cfg.OptGroup('planner', title='Planner')

OPTS = [
    cfg.StrOpt(
        'objective', default='spread',
        help='Objective that plans optimise after the preferences: the name '
             'of an entry point in nova_holistic.objectives.'),
    cfg.StrOpt(
        'solver', default='highs',
        help='Solver: the name of an entry point in nova_holistic.solvers.'),
    cfg.FloatOpt(
        'time_limit', default=10.0, min=0.1, max=MAX_SECONDS,
        help='Time limit in seconds of wall clock for solving one group. If '
             'no plan is known by then, the first plan is constructed even '
             'if this takes longer, until 5 seconds after the start.'),
    cfg.IntOpt(
        'attempts', default=5, min=1,
        help='Maximum number of times that a group is planned if Placement '
             'rejects its holds because the capacity is no longer available '
             '(409). Before the planner plans the whole group again, it plans '
             'only the members whose hosts no longer have capacity, at most '
             'the same number of times for each plan of the group.'),
    cfg.IntOpt(
        'lease', default=3600, min=0, max=MAX_SECONDS,
        help='Default lease in seconds: after this time, holds that no server '
             'has claimed are freed, unless the lease of the group is '
             'extended. 0 means no lease.'),
    cfg.IntOpt(
        'alternates', default=8, min=0,
        help='Number of hosts that the planner stores for each member as '
             'candidates for alternates. The scheduler selects among them '
             'when the server is created.'),
    cfg.IntOpt(
        'refusal_lifetime', default=3600, min=0, max=MAX_SECONDS,
        help='Seconds for which the planner does not plan a member on a host '
             'that a filter of Nova refused when its server was created. '
             'After that, the host is a candidate again, since aggregates and '
             'filters may have changed. 0 ignores refusals.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
