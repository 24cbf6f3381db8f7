# SPDX-License-Identifier: Apache-2.0
"""The parts that create servers and volumes for users, from their
configuration."""

from collections.abc import Callable
from datetime import datetime

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import loading
from keystoneauth1.plugin import BaseAuthPlugin

from nova_holistic.boot.booter import Booter
from nova_holistic.boot.cinder_volumes import CinderVolumes
from nova_holistic.boot.credential_cipher import CredentialCipher, InvalidKey
from nova_holistic.boot.rights import Rights
from nova_holistic.boot.trusts import Trusts
from nova_holistic.boot.volume_creator import VolumeCreator
from nova_holistic.cli.components.connections import (
    connect, connect_if_configured, NotConfigured)
from nova_holistic.table.store import PlacementTable

GROUP = 'boot'
UNSCOPED = {name: None for name in (
    'project_id', 'project_name', 'project_domain_id', 'project_domain_name',
    'domain_id', 'domain_name', 'system_scope')}
"""A trust determines the project, and no request may name another one."""


def rights(conf) -> Rights | None:
    """The rights to act for users; None if engines create no servers, because
    no key is configured.

    :raises NotConfigured: a key or an option of keystoneauth is invalid
    """
    keys = conf.boot.encryption_keys
    if not keys:
        return None
    try:
        cipher = CredentialCipher(keys)
    except InvalidKey as error:
        raise NotConfigured(str(error)) from error
    keystone = connect(conf, GROUP)
    if keystone.version is None and keystone.min_version is None:
        keystone.min_version, keystone.max_version = '3', '3.latest'

    def auth_of(trust_id: str) -> BaseAuthPlugin:
        return loading.load_auth_from_conf_options(
            conf, GROUP, trust_id=trust_id, **UNSCOPED)

    def connect_as(service: str, auth: BaseAuthPlugin) -> Adapter | None:
        if service == 'cinder' and not conf.cinder.auth_type:
            return None
        return loading.load_adapter_from_conf_options(
            conf, service, session=keystone.session, auth=auth)

    try:
        auth_of('trust')
    except (ks_exceptions.ClientException, TypeError) as error:
        raise NotConfigured(
            f'[{GROUP}]: this auth_type supports no trusts: {error}') from (
                error)
    return Rights(cipher, Trusts(keystone, auth_of), connect_as,
                  conf.boot.trust_lifetime)


def booter(conf, table: PlacementTable,
           clock: Callable[[], datetime]) -> Booter:
    """:raises NotConfigured: a key or an option of keystoneauth is invalid"""
    return Booter(conf, table, rights(conf), clock)


def volume_creator(conf, table: PlacementTable,
                   clock: Callable[[], datetime]) -> VolumeCreator | None:
    """The creator of volumes; None if Cinder is not configured.

    :raises NotConfigured: a key or an option of keystoneauth is invalid
    """
    cinder = connect_if_configured(conf, 'cinder')
    return cinder and VolumeCreator(
        conf, table, rights(conf), CinderVolumes(cinder), clock)
