# SPDX-License-Identifier: Apache-2.0
"""Options of the holds in Placement."""

from oslo_config import cfg

GROUP = cfg.OptGroup('holds', title='Holds in Placement')

OPTS = [
    cfg.StrOpt(
        'project', default='group',
        choices=[
            ('group', 'the project of the group: Nova counts the hold where '
                      'it counts usage from Placement'),
            ('service', 'the project named by project_id')],
        help='Project under which holds are kept.'),
    cfg.StrOpt(
        'project_id', default='',
        help='Project of the holds where project is service.'),
    cfg.StrOpt(
        'user_id', default='',
        help='User of the holds where project is service.'),
    cfg.IntOpt(
        'part_size', default=100, min=1,
        help='Most holds that one request to Placement puts or drops. The '
             'holds of a larger group are put in several requests, one after '
             'the other; if Placement refuses one of them, its members get '
             'other places, or those before it are undone. Placement and its '
             'database need about 10 ms of processor time for each hold. '
             'Proxies in front of Placement have to wait several times as '
             'long as a request takes. benchmarks/README.rst has the times '
             'for parts of 50 to 400 holds.'),
]


def register_opts(conf):
    # By name: a group object would carry its values to other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
