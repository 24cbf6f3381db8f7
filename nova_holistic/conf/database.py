# SPDX-License-Identifier: Apache-2.0
"""Options of the placement table's database."""

import copy

from oslo_config import cfg
from oslo_config import types
from oslo_db import options

GROUP = cfg.OptGroup('holistic_database', title='Placement table')

_OWN_TYPES = {
    # SQLAlchemy accepts smaller numbers, and then cannot connect.
    'max_overflow': types.Integer(min=-1),
}

_OWN_DEFAULTS = {
    # Clients of the API retry. The defaults of oslo.db, ten retries at
    # intervals of ten seconds, would block each request for a minute and a
    # half while the database is unavailable.
    'max_retries': 0,
}


def _adapted(opt: cfg.Opt) -> cfg.Opt:
    opt = copy.copy(opt)
    opt.default = _OWN_DEFAULTS.get(opt.dest, opt.default)
    opt.type = _OWN_TYPES.get(opt.dest, opt.type)
    return opt


OPTS = [
    cfg.StrOpt(
        'connection', default='sqlite:////var/lib/nova-holistic/table.sqlite',
        secret=True, help='SQLAlchemy URL of the placement table.'),
] + [_adapted(opt) for opt in options.database_opts
     if opt.dest != 'connection']


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
