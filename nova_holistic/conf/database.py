# SPDX-License-Identifier: Apache-2.0
"""Options of the placement table's database."""

import copy

from oslo_config import cfg
from oslo_db import options

GROUP = cfg.OptGroup('holistic_database', title='Placement table')

_OWN_DEFAULTS = {
    # Clients of the API retry. The defaults of oslo.db, ten retries at
    # intervals of ten seconds, would block each request for a minute and a
    # half while the database is unavailable.
    'max_retries': 0,
}


def _with_own_default(opt: cfg.Opt) -> cfg.Opt:
    if opt.dest not in _OWN_DEFAULTS:
        return opt
    opt = copy.copy(opt)
    opt.default = _OWN_DEFAULTS[opt.dest]
    return opt


OPTS = [
    cfg.StrOpt(
        'connection', default='sqlite:////var/lib/nova-holistic/table.sqlite',
        secret=True, help='SQLAlchemy URL of the placement table.'),
] + [_with_own_default(opt) for opt in options.database_opts
     if opt.dest != 'connection']


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
