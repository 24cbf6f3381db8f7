# SPDX-License-Identifier: Apache-2.0
"""Options of the topology."""

from oslo_config import cfg

GROUP = cfg.OptGroup('topology', title='Where racks and rooms come from')

OPTS = [
    cfg.StrOpt(
        'driver', default='aggregates',
        help='Name of an entry point in nova_holistic.topology.'),
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
        help='Zone of a host that is in none; as in nova.conf.'),
    cfg.StrOpt(
        'path', default='',
        help='Inventory document that has the locations, for the file '
             'driver.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
