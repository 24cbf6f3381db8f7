# SPDX-License-Identifier: Apache-2.0
"""Connections of a process of this project, from its configuration."""

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import loading

from nova_holistic import exceptions


class NotConfigured(exceptions.HolisticError):
    """The options of a service are missing or make no sense."""


def connect(conf, group: str) -> Adapter:
    """An adapter for the service that an option group describes.

    :param group: ``placement`` or ``nova``
    :raises NotConfigured: its options will not do
    """
    try:
        auth = loading.load_auth_from_conf_options(conf, group)
        if auth is None:
            raise NotConfigured(f'[{group}] auth_type is missing')
        session = loading.load_session_from_conf_options(
            conf, group, auth=auth)
        return loading.load_adapter_from_conf_options(
            conf, group, session=session, auth=auth)
    # TypeError: options that exclude each other.
    except (ks_exceptions.ClientException, TypeError) as error:
        raise NotConfigured(f'[{group}]: {error}') from error
