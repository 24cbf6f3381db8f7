# SPDX-License-Identifier: Apache-2.0
"""Options of the lookup inside nova-scheduler."""

from oslo_config import cfg
from oslo_config import types

GROUP = cfg.OptGroup(
    'holistic', title='Lookup of planned places in nova-scheduler')

OPTS = [
    cfg.StrOpt(
        'failure_mode', default='reject',
        choices=[
            ('reject', 'the create fails with a message that says why'),
            ('yield', 'Nova schedules the server as if it had no pointer')],
        help='What to do with a create whose pointer cannot be honoured, and '
             'with a move of a member while its group cannot be read.'),
    cfg.StrOpt(
        'unchecked_moves', default='evacuate',
        choices=[
            ('none', 'no member is moved until the table answers'),
            ('evacuate', 'a member is evacuated; other moves are refused'),
            ('all', 'members are moved by every action of Nova')],
        help='Which moves of members Nova may make while the placement table '
             'does not answer, so that the policies of their groups cannot '
             'be read. Such a move may violate hard policies of the group. '
             'It never uses hosts that are known to be exclusively another '
             "group's. With failure_mode = yield every move is made."),
    cfg.StrOpt(
        'evacuate_over_holds', default='group',
        choices=[
            ('none', 'no hold is given up'),
            ('group', 'holds of the group of the server'),
            ('any', 'holds of any group of any project')],
        help='Which holds of members without servers are given up if a '
             'member is evacuated and Nova finds no host for it otherwise. '
             'Those members are lost, and an engine plans them again.'),
    cfg.FloatOpt(
        'search_time_limit', default=2.0, min=0,
        help='Seconds for which a create may look for another host, if the '
             'planned host of its member and all alternates are refused. The '
             'hosts come from Placement and keep the policies of the group. '
             'All servers of one request share this time. 0 does not look '
             'for other hosts; the member is then lost, and an engine plans '
             'it again.'),
    cfg.IntOpt(
        'search_hosts', default=20, min=1,
        help="How many hosts one such search offers to Nova's filters, the "
             'best first.'),
    cfg.FloatOpt(
        'traits_lifetime', default=60.0, min=0,
        help='Seconds for which a scheduler remembers which hosts have a '
             'trait. Only the domains over which the policy spread counts '
             'depend on it: the traits of a host that is to take a server '
             'are always read. 0 asks Placement each time, whose answer '
             'names every host that has the trait: about half a second of '
             'processor time at 10,000 hosts (benchmarks/README.rst).'),
    cfg.BoolOpt(
        'allow_unsupported_nova', default=False,
        help='Start inside a version of Nova that this version of the '
             'project does not support. If this is not set, '
             'nova-holistic-scheduler and the filter inside nova-api refuse '
             'to start there.'),
    cfg.FloatOpt(
        'group_weight_multiplier', default=10.0,
        help='Multiplier of HolisticGroupWeigher, which prefers the hosts '
             'that break fewest of the weighted policies of a group.'),
    cfg.Opt(
        'statistics_weights', type=types.Dict(types.Float()), default={},
        sample_default='cpu_temperature:-1.0',
        help='Multipliers of HolisticStatisticsWeigher by the names of '
             'statistics that engines have been told of hosts, each scaled '
             'to 0 to 1 over the hosts to choose from: below 0, less is '
             'better.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
