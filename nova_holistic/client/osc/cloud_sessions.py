# SPDX-License-Identifier: Apache-2.0
"""Nova in the clouds of a federation, with the configuration of the user."""

from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1.identity.base import BaseIdentityPlugin
from openstack.config import OpenStackConfig
from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions

from nova_holistic.client.boot.compute import Compute


def compute_of(manager: Any, cloud: str) -> Compute:
    """Nova in a cloud: as the entry of this name in clouds.yaml describes it,
    or else in the region of this name.

    :param manager: osc_lib.clientmanager.ClientManager
    :param cloud: name of the cloud, as the parent shows it
    :raises CommandError: there is neither such an entry nor such a region
    """
    config = OpenStackConfig()
    if cloud not in config.get_cloud_names():
        return _in_region(manager, cloud)
    try:
        entry = config.get_one(cloud=cloud)
        return Compute(
            entry.get_session(), interface=entry.get_interface('compute'),
            region_name=entry.get_region_name('compute'),
            endpoint_override=entry.get_endpoint('compute'))
    except (sdk_exceptions.SDKException,
            ks_exceptions.ClientException) as error:
        raise exceptions.CommandError(
            f'entry {cloud} of clouds.yaml: {error}') from error


def _in_region(manager: Any, cloud: str) -> Compute:
    options = {'interface': manager.interface, 'region_name': cloud}
    session, found = manager.session, None
    # Without a keystone, every service has the URL of the parent.
    if isinstance(session.auth, BaseIdentityPlugin):
        found = session.get_endpoint(service_type='compute', **options)
    if found is None:
        raise exceptions.CommandError(
            f'members of the group are in cloud {cloud}: clouds.yaml has no '
            f'entry {cloud}, and the catalog has no Nova in a region {cloud}')
    return Compute(session, **options)
