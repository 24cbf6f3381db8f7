# SPDX-License-Identifier: Apache-2.0
"""Options of the planner."""

from oslo_config import cfg

GROUP = cfg.OptGroup('planner', title='Planner')

OPTS = [
    cfg.StrOpt(
        'objective', default='spread',
        help='What plans are to be best at, once preferences are met: the '
             'name of an entry point in nova_holistic.objectives.'),
    cfg.StrOpt(
        'solver', default='highs',
        help='Solver: the name of an entry point in nova_holistic.solvers.'),
    cfg.FloatOpt(
        'time_limit', default=10.0, min=0.1,
        help='Seconds of wall clock for solving one group.'),
    cfg.IntOpt(
        'attempts', default=5, min=1,
        help='How often a group is planned, if Placement refuses its holds '
             'because the capacity has gone (409). Before that, only members '
             'whose hosts have no room any more are planned again, at most '
             'as often for each plan of the group.'),
    cfg.IntOpt(
        'lease', default=3600, min=0,
        help='Seconds after which holds that no server has claimed are freed, '
             'unless the group is extended. 0 is no lease at all.'),
    cfg.IntOpt(
        'alternates', default=8, min=0,
        help='Hosts remembered for each member as candidates for alternates, '
             'among which the scheduler chooses when the server is created.'),
    cfg.IntOpt(
        'refusal_lifetime', default=3600, min=0,
        help='Seconds for which a member is not planned on a host that one of '
             'the filters of Nova refused when its server was created. After '
             'that the host counts again, since aggregates and filters may '
             'have changed. 0 remembers no refusals.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
