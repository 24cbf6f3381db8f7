# SPDX-License-Identifier: Apache-2.0
"""Options of the reconciler."""

from oslo_config import cfg

GROUP = cfg.OptGroup('reconciler', title='Reconciler')

OPTS = [
    cfg.IntOpt(
        'grace', default=300, min=0,
        help='Seconds after which a plan being made, or a claim of a server '
             'that is not there or in ERROR, counts as abandoned. It should '
             'be longer than solving a group takes, and than the RPC timeout '
             'of nova-conductor.'),
    cfg.IntOpt(
        'scan_requests', default=200, min=0,
        help='How many requests to Placement one pass spends on looking for '
             'holds that no group knows, on one resource provider after the '
             'other over as many passes as it takes. Such a hold is dropped '
             'once it has been seen for grace seconds, and every provider was '
             'looked at since the start. 0 is no look at all: for a '
             'Placement in which holds of another placement table are, '
             'too.'),
    cfg.IntOpt(
        'orphan_percent', default=50, min=0, max=100,
        help='Most holds that no group knows, as a percentage of those and '
             'of all holds and servers in Placement that a group knows, for '
             'the reconciler to drop any. Where there are more, and more '
             'than 5, it takes its placement table for that of another '
             'deployment, and only logs an error; as it does, whatever is '
             'set here, where the table has no group, or knows nothing of '
             'what is in Placement. "nova-holistic-manage hold audit '
             '--delete" drops them even so.'),
    cfg.IntOpt(
        'missing_percent', default=50, min=0, max=100,
        help='Largest share, in percent of all servers of members, of servers '
             'that Nova does not know although Placement has an allocation '
             'for them. If the share is larger, and there are more than 5 '
             'such servers, [nova] is taken to name the Nova of another '
             'cloud: a pass of the reconciler changes no member because of '
             'its server, and logs an error. 100 switches this guard off.'),
    cfg.IntOpt(
        'replans', default=10, min=0,
        help='How many groups with lost members are planned anew in one '
             'pass, those first that have waited longest.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
