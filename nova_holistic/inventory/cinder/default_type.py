# SPDX-License-Identifier: Apache-2.0
"""The volume type that Cinder gives a volume without a type.

It is the default type of the project, if an administrator has set one, and
otherwise the option ``default_volume_type`` of Cinder.

Source: cinder.volume.volume_types.get_default_volume_type of Cinder 29.0.0.
"""

from dataclasses import replace

from keystoneauth1.adapter import Adapter
from oslo_log import log as logging

from nova_holistic.inventory.cinder.pools import VERSION
from nova_holistic.inventory.errors import ErrorAnswer
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.cloud.snapshot import Snapshot

LOG = logging.getLogger(__name__)

PROJECT_TYPES = '3.62'
"""Version of Cinder's API from which projects have default types."""


def default_volume_type(cinder: Adapter,
                        project_id: str | None) -> str | None:
    """The name of the default type of a project; None if Cinder gives no
    default type to the user of the adapter.

    If this user may not read the default types of projects, it is the default
    type of the user's own project.

    Requests: one or two.

    :param project_id: None: a project for which no administrator has set one
    :raises ServiceFailed: Cinder does not answer, or gives an invalid answer
    """
    client = ServiceClient('cinder', cinder)
    own = project_id and _of_project(client, project_id)
    path = f'/types/{own or "default"}'
    try:
        with client.reading(path):
            return client.get(path, VERSION)['volume_type']['name']
    except ErrorAnswer as error:
        LOG.warning('Volumes without a volume type are planned in all pools: '
                    '%s', error)
        return None


def with_default_volume_type(snapshot: Snapshot, cinder: Adapter) -> Snapshot:
    """The snapshot with the default type of the user's own project.

    :raises ServiceFailed: Cinder does not answer, or gives an invalid answer
    """
    return replace(snapshot,
                   default_volume_type=default_volume_type(cinder, None))


def _of_project(client: ServiceClient, project_id: str) -> str | None:
    """UUID of the type that an administrator has set for a project; None if
    no type is set, or if it cannot be read."""
    # Cinder reads the project from keystone if only its type is requested.
    path = '/default-types'
    try:
        with client.reading(path):
            types = {item['project_id']: item['volume_type_id'] for item
                     in client.get(path, PROJECT_TYPES)['default_types']}
    except ErrorAnswer as error:
        LOG.info('The default volume types of projects are not known: %s',
                 error)
        return None
    return types.get(project_id)
