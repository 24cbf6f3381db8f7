# SPDX-License-Identifier: Apache-2.0
"""Options of the listener to Nova's notifications."""

from oslo_config import cfg

GROUP = cfg.OptGroup('nova_notifications', title="Nova's notifications")

OPTS = [
    cfg.BoolOpt(
        'enabled', default=True,
        help='Whether engines listen to the versioned notifications of Nova. '
             'If true, an engine corrects the members of a changed server, '
             'and the holds on a changed host, within seconds; otherwise, the '
             'next pass of the reconciler corrects them. Nova sends the '
             'notifications if its configuration has [notifications] '
             'notification_format = versioned (or both), and '
             '[oslo_messaging_notifications] driver = messagingv2.'),
    cfg.StrOpt(
        'transport_url', secret=True,
        help='URL of the message bus to which Nova sends its notifications. '
             'The default is [oslo_messaging_notifications] transport_url if '
             'it is set, and otherwise [DEFAULT] transport_url.'),
    cfg.StrOpt(
        'exchange', default='nova',
        help='Exchange of the notifications: the value of [DEFAULT] '
             'control_exchange of Nova.'),
    cfg.ListOpt(
        'topics', default=['versioned_notifications'],
        help='Topics of the notifications: the value of [notifications] '
             'versioned_notifications_topics of Nova.'),
    cfg.StrOpt(
        'pool', default='nova_holistic',
        help='Name of the pool of listeners. Each notification reaches one '
             'listener of each pool. All engines must therefore use the same '
             'pool, and no other service may use it.'),
    cfg.IntOpt(
        'host_interval', default=30, min=0,
        help='Minimum interval in seconds between two checks of the hosts '
             'because of notifications. A check reads all compute services '
             'and aggregates from Nova.'),
]


def register_opts(conf):
    # Options are registered by name: a group object would carry its values to
    # other ConfigOpts.
    conf.register_opts(OPTS, group=GROUP.name)


def list_opts():
    return [(GROUP, OPTS)]
