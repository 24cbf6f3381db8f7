# SPDX-License-Identifier: Apache-2.0
"""Options of the API.

The group is not ``api``: inside nova-api that one is Nova's.
"""

from oslo_config import cfg

from nova_holistic.documents.schemas.group import MAX_MEMBERS

GROUP = cfg.OptGroup('holistic_api', title='API')

OPTS = [
    cfg.IntOpt(
        'max_request_body', default=10 * 2**20, min=1024,
        help='Longest body of a request, in bytes. A longer one is refused '
             'with 413.'),
    cfg.IntOpt(
        'max_depth', default=64, min=8, max=256,
        help='Deepest nesting of lists and objects in the body of a '
             'request.'),
    cfg.IntOpt(
        'max_limit', default=1000, min=1,
        help='Most groups in one page of a list.'),
    cfg.IntOpt(
        'wait_max', default=300, min=0,
        help='Most seconds for which a request may wait for its plan '
             '(?wait=N). It keeps one thread of the web server busy, and no '
             'transaction of the database open.'),
    cfg.IntOpt(
        'max_waiters', default=4, min=0,
        help='Most requests that wait for their plan at once in one process. '
             'One more is answered with 202 at once, as if it had not asked '
             'to wait. It should be less than the threads that the web '
             'server has for each process, so that some are left for those '
             'who do not wait.'),
    cfg.FloatOpt(
        'retry_after', default=5.0, min=1.0,
        help='Seconds after which a client is told to try again when the '
             'database or all engines are away (503).'),
    cfg.StrOpt(
        'limits', default='config', choices=[
            ('config', 'the options below, alike for every project'),
            ('oslo_limit', 'limits registered in keystone, by the names '
                           'holistic_groups, holistic_members and '
                           'holistic_plans')],
        help='Where the limits of projects are kept. Either way they are '
             'counted before a group is written: requests made at once may '
             'exceed them together, by no more than each asks for.'),
    cfg.IntOpt(
        'max_groups_per_project', default=1000, min=-1,
        help='Most groups of one project; -1 is no limit.'),
    cfg.IntOpt(
        'max_members_per_project', default=1000, min=-1,
        help='Most members of all groups of one project. Released members do '
             'not count. What a group was asked to become counts from then '
             'on. -1 is no limit.'),
    cfg.IntOpt(
        'max_plans_per_project', default=1000, min=-1,
        help='Most plans that hold nothing of one project; -1 is no limit. '
             'Each counts for as long as it is remembered: [engine] '
             'plan_retention.'),
    cfg.BoolOpt(
        'check_nova_quota', default=False,
        help='Whether a create of a group is refused with 403 if the quota '
             'of the project in Nova (instances, cores, ram) does not allow '
             'its servers beside those that exist. The API then needs the '
             'options of [nova], of a user who may read the limits of all '
             'projects. Nova checks its quota again when each server is '
             'created. The API inside nova-api ignores this option.'),
    cfg.IntOpt(
        'max_lease', default=7 * 24 * 3600, min=1,
        help='Longest lease, in seconds, that a user may ask for when it '
             'creates a group or extends its lease. A longer lease, or none '
             'at all, needs the right holistic:groups:unlimited_lease. The '
             'default of [planner] lease is not limited.'),
    cfg.IntOpt(
        'max_members_per_group', default=MAX_MEMBERS, min=1, max=MAX_MEMBERS,
        help='Most members of one group.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
