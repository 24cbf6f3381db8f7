# SPDX-License-Identifier: Apache-2.0
"""Options of the inventory."""

from oslo_config import cfg

GROUP = cfg.OptGroup('inventory', title='Where snapshots come from')

OPTS = [
    cfg.StrOpt(
        'driver', default='placement',
        help='Name of an entry point in nova_holistic.inventory.'),
    cfg.StrOpt(
        'path', default='',
        help='Inventory document, for the file driver.'),
    cfg.IntOpt(
        'threads', default=8, min=1, max=64,
        help='How many resource providers are read from Placement at once. '
             'Only those that changed since the snapshot before are read.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
