# SPDX-License-Identifier: Apache-2.0
"""The transport that carries messages between APIs and engines."""

import oslo_messaging as messaging
from oslo_utils import importutils

from nova_holistic import exceptions

_ELSEWHERE = {'oslo_messaging_metrics': 'oslo_messaging._metrics.client',
              'oslo_messaging_tracing': 'oslo_messaging._tracing.client'}
"""Option groups, and lists of options, that the library registers in the
global configuration alone, and reads in whatever configuration it is given."""


class BadTransport(exceptions.HolisticError):
    """The configuration names no transport that there is."""


def get_transport(conf) -> messaging.Transport:
    """The transport that ``transport_url`` names.

    :raises BadTransport: there is no such transport
    """
    _register_options(conf)
    try:
        return messaging.get_rpc_transport(conf)
    except (messaging.DriverLoadFailure,
            messaging.InvalidTransportURL) as error:
        raise BadTransport(f'[DEFAULT] transport_url: {error}') from error


def get_notification_transport(conf) -> messaging.Transport:
    """The transport over which Nova sends its notifications.

    :raises BadTransport: there is no such transport
    """
    _register_options(conf)
    try:
        return messaging.get_notification_transport(
            conf, url=conf.nova_notifications.transport_url)
    except (messaging.DriverLoadFailure,
            messaging.InvalidTransportURL) as error:
        raise BadTransport(
            f'[nova_notifications] transport_url: {error}') from error


def _register_options(conf) -> None:
    for group, module in _ELSEWHERE.items():
        options = getattr(importutils.try_import(module), group, ())
        conf.register_opts(options, group=group)
