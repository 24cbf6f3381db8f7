# SPDX-License-Identifier: Apache-2.0
"""The transport that carries messages between APIs and engines."""

from collections.abc import Callable
import functools
from typing import Any

import oslo_messaging as messaging
from oslo_utils import importutils

from nova_holistic import exceptions

_ELSEWHERE = {'oslo_messaging_metrics': 'oslo_messaging._metrics.client',
              'oslo_messaging_tracing': 'oslo_messaging._tracing.client'}
"""Option groups, and lists of options, that the library registers in the
global configuration only, and reads from any configuration that it
receives."""


class BadTransport(exceptions.HolisticError):
    """The configuration names a transport that does not exist, or an invalid
    URL."""


def get_transport(conf) -> messaging.Transport:
    """The transport that ``transport_url`` names.

    :raises BadTransport: there is no such transport, or the URL is invalid
    """
    return _get(conf, messaging.get_rpc_transport, '[DEFAULT] transport_url')


def get_notification_transport(conf) -> messaging.Transport:
    """The transport of notifications.

    :raises BadTransport: there is no such transport, or the URL is invalid
    """
    return _get(conf, messaging.get_notification_transport,
                '[oslo_messaging_notifications] transport_url')


def get_nova_notification_transport(conf) -> messaging.Transport:
    """The transport over which Nova sends its notifications.

    :raises BadTransport: there is no such transport, or the URL is invalid
    """
    url = conf.nova_notifications.transport_url
    return _get(
        conf, functools.partial(messaging.get_notification_transport, url=url),
        '[nova_notifications] transport_url')


def _get(conf, get: Callable[[Any], messaging.Transport],
         option: str) -> messaging.Transport:
    for group, module in _ELSEWHERE.items():
        options = getattr(importutils.try_import(module), group, ())
        conf.register_opts(options, group=group)
    try:
        return get(conf)
    except (messaging.DriverLoadFailure,
            messaging.InvalidTransportURL) as error:
        raise BadTransport(f'{option}: {error}') from error
    except ValueError as error:
        # The host or the port is invalid. The error may contain a part of the
        # password.
        raise BadTransport(f'{option} is not a valid URL') from error
