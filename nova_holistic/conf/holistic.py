# SPDX-License-Identifier: Apache-2.0
"""Options of the lookup inside nova-scheduler."""

from oslo_config import cfg
from oslo_config import types

from nova_holistic.conf.times import MAX_SECONDS

GROUP = cfg.OptGroup(
    'holistic', title='Lookup of planned hosts in nova-scheduler')

OPTS = [
    cfg.StrOpt(
        'failure_mode', default='reject',
        choices=[
            ('reject', 'the create fails with a message that states the '
                       'reason'),
            ('yield', 'Nova schedules the server as if it had no pointer')],
        help='How the scheduler handles a create whose pointer it cannot '
             'use, and a move of a member whose group it cannot read.'),
    cfg.StrOpt(
        'unchecked_moves', default='evacuate',
        choices=[
            ('none', 'no member is moved until the table is available again'),
            ('evacuate', 'a member is evacuated; other moves are refused'),
            ('all', 'members are moved by every action of Nova')],
        help='Moves of members that Nova may make while the placement table '
             'is unavailable, so that the scheduler cannot read the policies '
             'of their groups. Such a move may violate hard policies of the '
             'group. It never uses hosts that are known to be exclusive to '
             'another group. With failure_mode = yield, all moves are made.'),
    cfg.StrOpt(
        'evacuate_over_holds', default='group',
        choices=[
            ('none', 'no hold is dropped'),
            ('group', 'holds of the group of the server'),
            ('any', 'holds of any group of any project')],
        help='Holds of members without servers that the scheduler may drop if '
             'a member is evacuated and Nova finds no other host for it. '
             'Those members become lost, and an engine plans them again.'),
    cfg.FloatOpt(
        'search_time_limit', default=2.0, min=0, max=MAX_SECONDS,
        help='Time limit in seconds of the search for another host if Nova '
             'refuses the planned host of a member and all its alternates. '
             'The hosts come from Placement and satisfy the policies of the '
             'group. All servers of one request share this time. 0 disables '
             'the search; the member then becomes lost, and an engine plans '
             'it again.'),
    cfg.IntOpt(
        'search_hosts', default=20, min=1,
        help="Maximum number of hosts that one such search passes to Nova's "
             "filters, in descending order of weight; and maximum number of "
             "hosts on which an evacuation looks for holds to drop."),
    cfg.IntOpt(
        'host_refresh_interval', default=10, min=0,
        help='Seconds between two comparisons of the hosts that each '
             'scheduler keeps in memory with the databases of Nova. Only the '
             'set of domains that the policy spread counts depends on them: '
             'the scheduler always reads the selected host. The first '
             'comparison reads all hosts, soon after the start of the '
             'scheduler, if a group depends on them. A create waits '
             'for a comparison only if three intervals have passed without '
             'one. 0 compares them at each create in a group whose members '
             'are not where the plan has them; such a create then takes '
             'longer in a large cloud (benchmarks/README.rst).'),
    cfg.FloatOpt(
        'traits_lifetime', default=60.0, min=0, max=MAX_SECONDS,
        help='Seconds for which a scheduler caches which hosts have a trait. '
             'Only the set of domains that the policy spread counts depends '
             'on this cache: the scheduler always reads the traits of the '
             'selected host. 0 disables the cache: each request then reads '
             'from Placement every host that has the trait, which takes about '
             'half a second of processor time at 10,000 hosts '
             '(benchmarks/README.rst).'),
    cfg.BoolOpt(
        'allow_unsupported_nova', default=False,
        help='Whether to start inside a version of Nova that this version of '
             'the project does not support. If false, nova-holistic-scheduler '
             'and the filter inside nova-api refuse to start there.'),
    cfg.FloatOpt(
        'group_weight_multiplier', default=10.0,
        help='Multiplier of HolisticGroupWeigher, which prefers the hosts '
             'that violate the fewest weighted policies of a group.'),
    cfg.Opt(
        'statistics_weights', type=types.Dict(types.Float()), default={},
        sample_default='cpu_temperature:-1.0',
        help='Multipliers of HolisticStatisticsWeigher, by the names of the '
             'statistics of hosts that engines have received. The weigher '
             'scales each statistic to 0 to 1 over the candidate hosts. With '
             'a multiplier below 0, hosts with lower values are preferred.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
