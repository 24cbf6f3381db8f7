# SPDX-License-Identifier: Apache-2.0
"""Options of the reconciler."""

from oslo_config import cfg

from nova_holistic.conf.times import MAX_SECONDS

GROUP = cfg.OptGroup('reconciler', title='Reconciler')

OPTS = [
    cfg.IntOpt(
        'grace', default=300, min=0, max=MAX_SECONDS,
        help='Seconds after which the reconciler considers a plan in progress '
             'abandoned, or a claim whose server does not exist or is in '
             'ERROR. Set it above the time that solving a group takes, and '
             'above the RPC timeout of nova-conductor. The reconciler undoes '
             'a claim earlier if Nova proves that the server was deleted or '
             'that its build has failed.'),
    cfg.IntOpt(
        'build_timeout', default=7200, min=0, max=MAX_SECONDS,
        help='Seconds after which the reconciler undoes the claim of a server '
             'in BUILD without a host, if Nova has not changed the server in '
             'this time: its nova-conductor has failed. The member is planned '
             'and held again, and the server keeps its own allocation until '
             'it is deleted. Set it above [DEFAULT] long_rpc_timeout of Nova, '
             'and above the duration of an outage of a compute host whose '
             'queued messages are still processed. 0 means that such a claim '
             'is never undone.'),
    cfg.IntOpt(
        'scan_requests', default=200, min=0,
        help='Number of requests to Placement that one pass may send to '
             'search for holds without a group at resource providers that are '
             'new or have new allocations. The next passes read the remaining '
             'providers. An engine pauses between these requests, so that '
             'they use at most a quarter of the time. The reconciler drops '
             'such a hold after grace seconds if every provider has been read '
             'since the start. 0 disables the search, for a Placement that '
             'several placement tables share.'),
    cfg.IntOpt(
        'recheck_requests', default=20, min=0,
        help='Number of requests to Placement that one pass may send for '
             'resource providers without a known change: up to this number to '
             'search for planned members whose hold is missing, and up to '
             'this number to search for holds without a group. Every provider '
             'is read again after (providers / recheck_requests) passes. '
             'benchmarks/README.rst states the cost of a pass for 0, 20 and '
             '100 requests.'),
    cfg.IntOpt(
        'orphan_percent', default=50, min=0, max=100,
        help='Maximum number of holds without a group that the reconciler '
             'drops, as a percentage of these holds and of all holds and '
             'servers in Placement that belong to a group. If the percentage '
             'is larger, and there are more than 5 such holds, the reconciler '
             'assumes that its placement table belongs to another deployment: '
             'it drops no hold and logs an error. It also drops no hold, for '
             'any value of this option, if the table contains no group, or if '
             'nothing in Placement belongs to a group of the table. '
             '"nova-holistic-manage hold audit --delete" drops the holds in '
             'any case.'),
    cfg.IntOpt(
        'missing_percent', default=50, min=0, max=100,
        help='Maximum percentage of the servers of members that Nova does not '
             'know although Placement has an allocation for them. If the '
             'percentage is larger, and there are more than 5 such servers, '
             'the reconciler assumes that [nova] names the Nova of another '
             'cloud: it changes no member because of its server, and logs an '
             'error. 100 disables this check.'),
    cfg.IntOpt(
        'host_grace', default=300, min=0, max=MAX_SECONDS,
        help='Seconds for which a host must be disabled, down or deleted '
             'before the reconciler drops its holds and plans their members '
             'on other hosts. The time starts when an engine first detects '
             'that the host is unavailable, and ends when an engine detects '
             'that it is available. With 0, a single pass is enough.'),
    cfg.IntOpt(
        'host_percent', default=25, min=0, max=100,
        help='Maximum percentage of all hosts whose holds the reconciler '
             'drops in one pass. If more hosts have been unavailable for '
             'host_grace seconds, it drops no hold and logs an error: either '
             'the outage is a large one and an operator must decide, or the '
             'inventory is wrong. A single host never exceeds this limit, '
             'unless it is the only host.'),
    cfg.IntOpt(
        'drift_interval', default=300, min=0, max=MAX_SECONDS,
        help='Interval in seconds between two checks of all hosts for changes '
             'that violate the hard policies of groups with servers: a host '
             'in another rack, zone or aggregate, or with other traits. Each '
             'check takes a snapshot of the cloud. Groups whose servers have '
             'moved are checked in each pass in any case.'),
    cfg.IntOpt(
        'migration_timeout', default=3600, min=1,
        help='Seconds for which a repair of a group waits for one live '
             'migration. After that, the repair stops; Nova continues the '
             'migration.'),
    cfg.IntOpt(
        'replans', default=10, min=0,
        help='Maximum number of groups with lost members that one pass plans '
             'again. Groups that have waited longest come first.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
