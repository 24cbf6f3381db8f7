# SPDX-License-Identifier: Apache-2.0
"""Options of the holds in Placement."""

from oslo_config import cfg

GROUP = cfg.OptGroup('holds', title='Holds in Placement')

OPTS = [
    cfg.StrOpt(
        'project', default='group',
        choices=[
            ('group', 'the project of the group: Nova counts the hold if it '
                      'counts usage from Placement'),
            ('service', 'the project that project_id names')],
        help='Project that owns the holds.'),
    cfg.StrOpt(
        'project_id', default='',
        help='Project of the holds if the option project is service.'),
    cfg.StrOpt(
        'user_id', default='',
        help='User of the holds if the option project is service.'),
    cfg.IntOpt(
        'part_size', default=100, min=1,
        help='Maximum number of holds that one request to Placement writes or '
             'deletes. An engine writes the holds of a larger group in '
             'several requests, one after the other. If Placement rejects one '
             'of them, the engine plans its members on other hosts, or '
             'deletes the holds of the earlier requests. Placement and its '
             'database need about 10 ms of processor time per hold. Set the '
             'timeout of proxies in front of Placement to several times the '
             'duration of one request. benchmarks/README.rst states the times '
             'for 50 to 400 holds per request.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
