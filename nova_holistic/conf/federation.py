# SPDX-License-Identifier: Apache-2.0
"""Options of a parent, which places groups in several clouds."""

from oslo_config import cfg

from nova_holistic.conf import times
from nova_holistic.messaging.payloads import MAX_SECONDS

GROUP = cfg.OptGroup('federation', title='Parents of a federation')

OPTS = [
    cfg.StrOpt(
        'children',
        help='Path of the file that lists the children: clouds with an API '
             'of nova_holistic. If the option is set, the API is a parent: '
             'it places each group in the children, and needs neither '
             'an engine nor Nova nor Placement.'),
    cfg.StrOpt(
        'parent_id', default='parent', regex=r'[A-Za-z0-9_.]{1,32}',
        help='Name of this parent: the same in all its processes, and '
             'different from the name of any other parent of the same '
             'children. It is part of the idempotency key of each group in '
             'a child, which shows to which parent the group belongs.'),
    cfg.ListOpt(
        'order', default=[],
        help='Names of children in the order in which they are used, '
             'separated by commas: the home cloud first. Children that are '
             'not listed come last, and are equal.'),
    cfg.FloatOpt(
        'burst_share', default=1.0, min=0.0, max=1.0,
        help='Used share of the capacity of a child, from 0 to 1, above '
             'which the parent uses the child only if no other child takes '
             'the group. The used share is the fact share_in_use, which is '
             'read with fact_credentials, or is in the file of children.'),
    cfg.BoolOpt(
        'pruning', default=True,
        help='Whether the parent skips children whose facts (zones, traits, '
             'aggregates, largest host) exclude the group.'),
    cfg.IntOpt(
        'top', default=0, min=0,
        help='Number of children with the best offers for a part that the '
             'parent considers further. 0 means all.'),
    cfg.BoolOpt(
        'threshold', default=False,
        help='Whether only perfect offers are considered first (all '
             'preferences are met, and the bound proves the objective), and '
             'other offers only if these are not enough.'),
    cfg.BoolOpt(
        'likely_first', default=False,
        help='Whether the parent requests offers in batches, first of the '
             'most likely children by their recent answers, until the group '
             'can be placed.'),
    cfg.FloatOpt(
        'good_enough', min=0.0,
        help='Weighted violations of preferences up to which an answer is '
             'good enough: the parent then requests no further offers. If the '
             'option is not set, it requests the offers of all children.'),
    cfg.IntOpt(
        'batch', default=4, min=1,
        help='Number of children in one batch of likely_first or '
             'good_enough.'),
    cfg.FloatOpt(
        'facts_ttl', default=300.0, min=0.0, max=times.MAX_SECONDS,
        help='Seconds for which facts that were read from a child are used. '
             'They are read again after half of this time.'),
    cfg.StrOpt(
        'fact_credentials',
        help='Path of a file with credentials of the operator, one for each '
             'child whose facts are read: availability zones and aggregates '
             'from its Nova, traits from its Placement, the largest amounts '
             'of VCPU and MEMORY_MB of a host, and the share of the capacity '
             'that is in use. The credentials need '
             'only rights to read, and are never used for a request of a '
             'user. If the option is not set, only the facts in the file of '
             'children are known.'),
    cfg.IntOpt(
        'commit_lease', default=120, min=5, max=MAX_SECONDS,
        help='Lease in seconds of each part of a group until all parts '
             'exist. If the parent stops before, the parts expire after this '
             'time. Set more than request_timeout.'),
    cfg.IntOpt(
        'max_tries', default=5, min=1,
        help='Maximum number of times that a group is placed again because '
             'a chosen offer is no longer available.'),
    cfg.IntOpt(
        'offer_seconds', default=30, min=1,
        help='Seconds for which a child may work on one offer.'),
    cfg.FloatOpt(
        'request_timeout', default=60.0, min=0.1, max=times.MAX_SECONDS,
        help='Seconds after which a request to a child, or to its '
             'keystone, counts as unanswered.'),
    cfg.IntOpt(
        'max_answer', default=16 * 2**20, min=1024,
        help='Maximum size in bytes of the answer of a child. A longer '
             'answer counts as invalid.'),
    cfg.FloatOpt(
        'max_rate', default=50.0, min=0.1,
        help='Maximum number of requests per second to one child from one '
             'process.'),
    cfg.IntOpt(
        'threads', default=8, min=1, max=256,
        help='Maximum number of groups and plans that one process places at '
             'the same time. Others wait.'),
    cfg.IntOpt(
        'max_queue', default=100, min=1,
        help='Maximum number of groups and plans that wait in one process. '
             'Others stay in the table, and begin when their user next '
             'shows them.'),
    cfg.IntOpt(
        'task_timeout', default=60, min=1,
        help='Seconds without a heartbeat after which the process that '
             'places a group counts as ended. The next request of the user '
             'about the group then undoes its parts and places it again.'),
    cfg.IntOpt(
        'placement_seconds', default=300, min=1,
        help='Seconds after which the parent does not start to place a group '
             'again.'),
    cfg.FloatOpt(
        'refresh_interval', default=5.0, min=0.0, max=times.MAX_SECONDS,
        help='Seconds for which the parent shows the state of members as a '
             'child last answered. A request after that reads it from the '
             'child again.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
