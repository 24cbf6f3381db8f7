# SPDX-License-Identifier: Apache-2.0
"""The transport that carries messages between APIs and engines."""

from collections.abc import Callable
import contextlib
import functools
from typing import Any

from oslo_config import cfg
import oslo_messaging as messaging
from oslo_messaging import opts as messaging_opts
from oslo_utils import importutils

from nova_holistic import exceptions

_ELSEWHERE = {'oslo_messaging_metrics': 'oslo_messaging._metrics.client',
              'oslo_messaging_tracing': 'oslo_messaging._tracing.client'}
"""Option groups, and lists of options, that the library registers in the
global configuration only, and reads from any configuration that it
receives."""

MAX_PORT = 65535
"""Largest number of a port."""


class BadTransport(exceptions.HolisticError):
    """The configuration names a transport that does not exist, an invalid URL,
    or an invalid value of an option of oslo.messaging."""


def get_transport(conf) -> messaging.Transport:
    """The transport that ``transport_url`` names.

    :raises BadTransport: there is no such transport, or the URL or another
        option of oslo.messaging is invalid
    """
    _check_values(conf)
    return _get(functools.partial(messaging.get_rpc_transport, conf),
                '[DEFAULT] transport_url', conf)


def get_notification_transport(conf) -> messaging.Transport:
    """The transport of notifications.

    :raises BadTransport: there is no such transport, or the URL or another
        option of oslo.messaging is invalid
    """
    _check_values(conf)
    return _get(functools.partial(messaging.get_notification_transport, conf),
                '[oslo_messaging_notifications] transport_url', conf,
                conf.oslo_messaging_notifications.transport_url)


def get_nova_notification_transport(conf) -> messaging.Transport:
    """The transport over which Nova sends its notifications.

    :raises BadTransport: there is no such transport, or the URL or another
        option of oslo.messaging is invalid
    """
    _check_values(conf)
    url = (conf.nova_notifications.transport_url
           or conf.oslo_messaging_notifications.transport_url)
    return _get(functools.partial(
        messaging.get_notification_transport, conf, url=url),
        '[nova_notifications] transport_url', conf, url)


def _get(get: Callable[[], messaging.Transport], option: str, conf: Any,
         url: str | None = None) -> messaging.Transport:
    """
    :param url: the URL of the transport; None means ``transport_url``
    """
    try:
        transport = get()
        hosts = messaging.TransportURL.parse(conf, url).hosts
        # The library does not check the range, and connects later, in a
        # thread.
        if any(host.port and host.port > MAX_PORT for host in hosts):
            raise ValueError('a port is too large')
        return transport
    except (messaging.DriverLoadFailure,
            messaging.InvalidTransportURL) as error:
        raise BadTransport(f'{option}: {error}') from error
    except ValueError as error:
        # The host or the port is invalid. The error may contain a part of the
        # password.
        raise BadTransport(f'{option} is not a valid URL') from error


def _check_values(conf) -> None:
    """Read all options of the library. The library reads most of them in a
    thread that waits for messages, and an error would end only this thread.

    :raises BadTransport: a value is invalid
    """
    for group, module in _ELSEWHERE.items():
        options = getattr(importutils.try_import(module), group, ())
        conf.register_opts(options, group=group)
    for group, options in messaging_opts.list_opts():
        for option in options:
            # Nova may have registered it with another default.
            with contextlib.suppress(cfg.DuplicateOptError):
                conf.register_opt(option, group=group)
            try:
                getattr(conf[group] if group else conf, option.dest)
            except cfg.Error as error:
                raise BadTransport(
                    f'[{group or "DEFAULT"}]: {error}') from error
