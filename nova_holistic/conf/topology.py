# SPDX-License-Identifier: Apache-2.0
"""Options of the topology."""

from oslo_config import cfg

GROUP = cfg.OptGroup('topology', title='Source of racks and rooms')

OPTS = [
    cfg.StrOpt(
        'driver', default='aggregates',
        help='Driver of the topology: the name of an entry point in '
             'nova_holistic.topology.'),
    cfg.ListOpt(
        'levels', default=['az', 'host'],
        help='Levels of the tree, coarse to fine; the last is host. The level '
             'az is the availability zone; any other is the metadata key of '
             'that name on a host aggregate.'),
    cfg.ListOpt(
        'labels', default=[],
        help='Metadata keys of host aggregates that are levels outside the '
             'tree, such as power_feed.'),
    cfg.StrOpt(
        'default_availability_zone', default='nova',
        help='Availability zone of a host without one; the same as in '
             'nova.conf.'),
    cfg.StrOpt(
        'path', default='',
        help='Path of the inventory document with the locations, for the '
             'driver file.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
