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
             'of nova-conductor. A claim is undone earlier if Nova proves '
             'that the server was deleted or that its build has failed.'),
    cfg.IntOpt(
        'build_timeout', default=7200, min=0,
        help='Seconds after which the claim of a server in BUILD that has no '
             'host is undone, if Nova has done nothing with the server for '
             'so long either: its nova-conductor died. The member is planned '
             'and held again, and the server keeps its own allocation until '
             'it is deleted. It should be longer than [DEFAULT] '
             'long_rpc_timeout of Nova, and than an outage of a compute host '
             'whose messages are to be honoured. 0 means that such a claim '
             'is never undone.'),
    cfg.IntOpt(
        'scan_requests', default=200, min=0,
        help='How many requests to Placement one pass may send to search for '
             'holds that no group knows, at resource providers that are new '
             'or have new allocations. The remaining providers are left to '
             'the next passes. Such a hold is dropped once it has been seen '
             'for grace seconds, and every provider was looked at since the '
             'start. 0 disables the search, for a Placement that several '
             'placement tables share.'),
    cfg.IntOpt(
        'recheck_requests', default=20, min=0,
        help='How many requests to Placement one pass may send for resource '
             'providers at which nothing seems to have changed: as many to '
             'search for planned members whose hold is gone, and as many to '
             'search for holds that no group knows. Every provider is looked '
             'at again after (providers / recheck_requests) passes. '
             'benchmarks/README.rst has the cost of a pass for 0, 20 and 100 '
             'requests.'),
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
        'host_grace', default=300, min=0,
        help='Seconds for which a host must be disabled, down or gone before '
             'the reconciler drops the holds there and plans their members '
             'elsewhere. They count from when an engine first saw the host '
             'so, and end when an engine sees it available. With 0, a single '
             'pass is enough.'),
    cfg.IntOpt(
        'host_percent', default=25, min=0, max=100,
        help='Highest percentage of all hosts whose holds the reconciler '
             'drops in one pass. If more hosts than that have been '
             'unavailable for host_grace seconds, it drops no hold, and logs '
             'an error: either the outage is a large one, and an operator '
             'has to decide, or the inventory is wrong. A single host never '
             'exceeds this limit, unless it is the only one.'),
    cfg.IntOpt(
        'drift_interval', default=300, min=0,
        help='Seconds between two looks at all hosts for changes that break '
             'the hard policies of groups with servers: a host in another '
             'rack, zone or aggregate, or with other traits. Such a look '
             'takes a snapshot of the cloud. Groups whose servers have moved '
             'are checked in each pass in any case.'),
    cfg.IntOpt(
        'migration_timeout', default=3600, min=1,
        help='Seconds for which a repair of a group waits for one live '
             'migration. After that the repair stops; Nova goes on with the '
             'migration.'),
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
