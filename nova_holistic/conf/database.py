# SPDX-License-Identifier: Apache-2.0
"""Options of the placement table's database."""

from oslo_config import cfg
from oslo_db import options

GROUP = cfg.OptGroup('holistic_database', title='Placement table')

OPTS = [
    cfg.StrOpt(
        'connection', default='sqlite:////var/lib/nova-holistic/table.sqlite',
        secret=True, help='SQLAlchemy URL of the placement table.'),
] + [opt for opt in options.database_opts if opt.dest != 'connection']


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
