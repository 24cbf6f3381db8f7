# SPDX-License-Identifier: Apache-2.0
"""Connections of a process of this project, from its configuration."""

import os

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import loading
from keystoneauth1.session import Session
from oslo_config import cfg
from requests import adapters

from nova_holistic.cli.components.errors import NotConfigured
from nova_holistic.inventory import http_environment

_FILES = ('cafile', 'certfile', 'keyfile')
"""Options of keystoneauth that name a file for TLS."""


def connect_if_configured(conf, group: str) -> Adapter | None:
    """Connect to an optional service: None if its group has no auth_type.

    :raises NotConfigured: its options are invalid
    """
    return connect(conf, group) if conf[group].auth_type else None


def connect(conf, group: str) -> Adapter:
    """An adapter for the service that an option group describes.

    :param group: ``placement``, ``nova``, ``glance`` or ``cinder``
    :raises NotConfigured: its options are invalid
    """
    _check_files(conf, group)
    try:
        auth = loading.load_auth_from_conf_options(conf, group)
        if auth is None:
            raise NotConfigured(f'[{group}] auth_type is missing')
        session = loading.load_session_from_conf_options(
            conf, group, auth=auth)
        _let_threads_connect(session, conf.inventory.threads)
        http_environment.skip_environment_lookups(session)
        return loading.load_adapter_from_conf_options(
            conf, group, session=session, auth=auth)
    except ks_exceptions.NoMatchingPlugin as error:
        raise NotConfigured(f'[{conf[group].auth_section or group}] '
                            f'auth_type: {error}') from error
    # TypeError: options that exclude each other.
    except (ks_exceptions.ClientException, TypeError) as error:
        raise NotConfigured(f'[{group}]: {error}') from error
    except cfg.NoSuchOptError as error:
        # auth_section names a group that no option belongs to.
        raise NotConfigured(f'[{group}] auth_section: {error}') from error
    except cfg.ConfigFileValueError as error:
        # The message names only the option, which other groups also have.
        raise NotConfigured(f'[{group}]: {error}') from error


def _check_files(conf, group: str) -> None:
    """requests looks for these files when it sends a request, and raises an
    OSError if one is missing.

    :raises NotConfigured: a file does not exist or cannot be read
    """
    for option in _FILES:
        path = conf[group][option]
        if path and not os.access(path, os.R_OK):
            raise NotConfigured(f'[{group}] {option}: {path} does not exist, '
                                'or cannot be read')


def _let_threads_connect(session: Session, threads: int) -> None:
    """Keep a connection for each thread that reads the inventory, in addition
    to those that requests keeps by default.

    A connection beyond this number is closed after one request.
    """
    size = adapters.DEFAULT_POOLSIZE + threads
    for adapter in session.session.adapters.values():
        adapter.init_poolmanager(adapters.DEFAULT_POOLSIZE, size)
