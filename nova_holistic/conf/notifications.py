# SPDX-License-Identifier: Apache-2.0
"""Options of the notifications about groups and members."""

from oslo_config import cfg

GROUP = cfg.OptGroup('holistic_notifications',
                     title='Notifications about groups and members')

OPTS = [
    cfg.ListOpt(
        'topics', default=['versioned_notifications'],
        help='Topics of the message bus to which notifications are sent, if '
             '[oslo_messaging_notifications] driver names a driver that sends '
             'notifications. A consumer must read each topic: otherwise its '
             'queue grows.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
