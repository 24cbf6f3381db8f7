# SPDX-License-Identifier: Apache-2.0
"""Options of the API.

The group is not named ``api`` because that group is Nova's inside nova-api.
"""

from oslo_config import cfg

from nova_holistic.conf.times import MAX_SECONDS
from nova_holistic.documents.schemas.group import MAX_MEMBERS

GROUP = cfg.OptGroup('holistic_api', title='API')

OPTS = [
    cfg.IntOpt(
        'max_request_body', default=10 * 2**20, min=1024,
        help='Maximum size of the body of a request, in bytes. The API '
             'rejects a larger body with 413.'),
    cfg.IntOpt(
        'max_depth', default=64, min=8, max=256,
        help='Maximum nesting depth of lists and objects in the body of a '
             'request.'),
    cfg.IntOpt(
        'max_limit', default=1000, min=1,
        help='Maximum number of groups in one page of a list.'),
    cfg.IntOpt(
        'wait_max', default=300, min=0,
        help='Maximum time in seconds for which a request may wait for its '
             'plan (?wait=N). A waiting request occupies one thread of the '
             'web server; it does not keep a database transaction open.'),
    cfg.IntOpt(
        'max_waiters', default=4, min=0,
        help='Maximum number of requests in one process that wait for their '
             'plan at the same time. The API answers further requests '
             'immediately with 202, as if they had not asked to wait; their '
             'clients then send a request each time they ask again. Set a '
             'number below the number of threads that the web server has for '
             'each process, so that threads remain for other requests.'),
    cfg.FloatOpt(
        'retry_after', default=5.0, min=1.0, max=MAX_SECONDS,
        help='Seconds after which a client should retry when the database or '
             'all engines are unavailable (503). The API sends this number in '
             'the header Retry-After.'),
    cfg.StrOpt(
        'limits', default='config', choices=[
            ('config', 'the options below, with the same values for every '
                       'project'),
            ('oslo_limit', 'limits registered in keystone, by the names '
                           'holistic_groups, holistic_members and '
                           'holistic_plans')],
        help='Source of the limits of projects. With either source, the API '
             'counts usage before it writes a group: simultaneous requests '
             'may together exceed a limit by the amount that they request.'),
    cfg.IntOpt(
        'max_groups_per_project', default=1000, min=-1,
        help='Maximum number of groups of one project. -1 means no limit.'),
    cfg.IntOpt(
        'max_members_per_project', default=1000, min=-1,
        help='Maximum number of servers in all groups of one project. '
             'Volumes and released members do not count. When a group is '
             'updated, the members of its new definition count immediately. '
             '-1 means no limit.'),
    cfg.IntOpt(
        'max_plans_per_project', default=1000, min=-1,
        help='Maximum number of plans without holds of one project. A plan '
             'counts until its retention time ends: [engine] plan_retention. '
             '-1 means no limit.'),
    cfg.BoolOpt(
        'check_nova_quota', default=False,
        help='Whether the API rejects the creation of a group with 403 if the '
             'quota of the project in Nova (instances, cores, ram) does not '
             'allow its servers in addition to the existing servers. The API '
             'then needs the options of [nova], with a user who may read the '
             'limits of all projects. Nova checks its quota again when each '
             'server is created. The API inside nova-api ignores this '
             'option.'),
    cfg.IntOpt(
        'max_lease', default=7 * 24 * 3600, min=1, max=MAX_SECONDS,
        help='Maximum lease, in seconds, that a user may request when it '
             'creates a group or extends its lease. A longer lease, or a '
             'group without a lease, requires the policy rule '
             'holistic:groups:unlimited_lease. The default lease of [planner] '
             'lease is not limited.'),
    cfg.IntOpt(
        'max_members_per_group', default=MAX_MEMBERS, min=1, max=MAX_MEMBERS,
        help='Maximum number of members of one group.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
